/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of all kinds of secrets. The first row that matches at a position gives the name, so specific rows come
 * before general ones. secret_pattern.h explains the language. */
#include "model/secret/secret_shapes.h"

#define QUOTE "[\"'\\\\]{0,4}"
#define BLANK "[ \\t]{0,4}"
#define IS QUOTE BLANK "[=:]" BLANK QUOTE          /* NAME=, NAME: and "NAME": " */
#define BREAK "[ \\t\\r\\n\\\\]{1,8}n?[ \\t]{0,8}" /* blanks or a line break, also written as \\n */
#define WORD "[A-Za-z0-9_-]"
#define BASE64 "[A-Za-z0-9+/=]"
#define HEX "[0-9a-f]"
#define UUID HEX "{8}-" HEX "{4}-" HEX "{4}-" HEX "{4}-" HEX "{12}"
#define BARE "[^\\s\"'\\\\`]"                     /* up to a blank or a quote */
#define ARGUMENT "[^\\s\"'\\\\`,;&<>(){}\\[\\]|]" /* one value within code or a query */
#define END_OF_KEY "[A-Z0-9 ]{0,40}-{0,5}"

#define PASSWORDS "(passphrase|password|passwd)"
#define SECRETS \
    "(secret_access_key|access_token|secret_key|secret-key|secretkey|access_key|access-key|" \
    "accesskey|private_key|encryption_key|signing_key|auth_key|authkey|api_key|api-key|apikey|" \
    "api_token|credentials|credential|secret|token)"
#define ENV_PASSWORDS "(PASSPHRASE|PASSWORD|PASSWD|_PWD|_PASS)"
#define ENV_SECRETS \
    "(SECRET_ACCESS_KEY|SECRET_KEY|ACCESS_KEY|PRIVATE_KEY|ENCRYPTION_KEY|SIGNING_KEY|AUTH_KEY|" \
    "API_KEY|APIKEY|CREDENTIALS|CREDENTIAL|SECRET|TOKEN)"

#define COUNTRY "|\\+[1-9][0-9]{0,6}[ ./(-]{1,3}"
#define AREA "[0-9]{1,5}\\)?[ ./-]{0,3}"
#define DIGITS "[ .-][0-9]{2,4}"

const struct secret_shape SECRET_SHAPES[] = {
    /* clouds */
    {"aws-access-key", "|(AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|", CHECK_NONE,
     "access key of AWS: `AKIA…`, `ASIA…`"},
    {"aws-secret-key",
     "~(secret_access_key|secretaccesskey|aws_secret_key|aws_secret)" IS "<" BASE64 "{40,}>",
     CHECK_NONE, "secret access key of AWS, by its name"},
    {"aws-session-token",
     "~(aws_session_token|aws_security_token|sessiontoken|x-amz-security-token)" IS "<" BASE64
     "{60,}>",
     CHECK_NONE, "session token of AWS, by its name"},
    {"aws-signature", "~x-amz-(signature|credential)=<[A-Za-z0-9%/_-]{16,}>", CHECK_NONE,
     "signature in a signed URL of AWS"},
    {"aws-bedrock-key", "|ABSK" BASE64 "{60,}", CHECK_NONE, "key of Amazon Bedrock: `ABSK…`"},
    {"google-api-key", "|AIza" WORD "{30,}", CHECK_NONE, "API key of Google: `AIza…`"},
    {"google-oauth", "|ya29." WORD "{20,}", CHECK_NONE,
     "OAuth token or client secret of Google: `ya29.…`, `1//0…`, `GOCSPX-…`"},
    {"google-oauth", "|GOCSPX-" WORD "{20,}", CHECK_NONE, NULL},
    {"google-oauth", "|1//0" WORD "{30,}", CHECK_NONE, NULL},
    {"google-key-id", "private_key_id" IS "<" HEX "{40}>|", CHECK_NONE,
     "key id of a service account's file"},
    {"azure-key", "(AccountKey|SharedAccessKey|SharedSecretIssuer)=<" BASE64 "{32,}>", CHECK_NONE,
     "key in a connection string of Azure"},
    {"azure-sas", "[?&]sig=<[A-Za-z0-9%+/=_-]{20,}>", CHECK_NONE,
     "signature in a shared access URL of Azure"},
    {"azure-client-secret", "[A-Za-z0-9_.~-]{<3}[78]Q~[A-Za-z0-9_.~-]{30,}", CHECK_NONE,
     "client secret of Azure: `…8Q~…`"},
    {"alibaba-key", "|LTAI[A-Za-z0-9]{16,24}|", CHECK_NONE, "access key of Alibaba Cloud: `LTAI…`"},
    {"tencent-key", "|AKID[A-Za-z0-9]{32}|", CHECK_NONE, "access key of Tencent Cloud: `AKID…`"},
    {"digitalocean-token", "|do[oprt]_v1_" HEX "{40,}", CHECK_NONE,
     "token of DigitalOcean: `dop_v1_…`"},
    {"heroku-key", "|HRKU-" WORD "{30,}", CHECK_NONE, "API key of Heroku"},
    {"heroku-key", "~heroku[A-Za-z_-]{0,24}" IS "<" UUID ">|", CHECK_NONE, NULL},
    {"cloudflare-key",
     "~(cloudflare_api_token|cloudflare_api_key|cloudflare_token|cf_api_token|cf_api_key)" IS
     "<" WORD "{32,}>",
     CHECK_NONE, "token or key of Cloudflare, by its name, and `v1.0-…`"},
    {"cloudflare-key", "|v1.0-" HEX "{24}-" HEX "{100,}", CHECK_NONE, NULL},
    {"vercel-token", "~vercel(_token|_api_token|_access_token|-token)" IS "<[A-Za-z0-9_]{20,}>",
     CHECK_NONE, "token of Vercel, by its name"},
    {"netlify-token", "|nfp_[A-Za-z0-9]{30,}", CHECK_NONE, "token of Netlify: `nfp_…`"},
    {"netlify-token", "~netlify(_auth_token|_token|_access_token)" IS "<" WORD "{30,}>", CHECK_NONE,
     NULL},
    {"fly-token", "|fm[12][ar]?_" BASE64 "{40,}", CHECK_NONE, "token of Fly.io: `fm2_…`"},
    {"supabase-key", "|(sbp_|sb_secret_)[A-Za-z0-9_]{20,}", CHECK_NONE,
     "key of Supabase: `sbp_…`, `sb_secret_…`"},
    {"planetscale-key", "|pscale_(tkn|pw|oauth)_[A-Za-z0-9_.-]{20,}", CHECK_NONE,
     "key of PlanetScale: `pscale_tkn_…`"},
    {"databricks-token", "|dapi" HEX "{32}", CHECK_NONE, "token of Databricks: `dapi…`"},

    /* source code, packages, builds */
    {"github-token", "|gh[opsur]_[A-Za-z0-9_]{30,}", CHECK_NONE,
     "token of GitHub: `ghp_`, `gho_`, `ghu_`, `ghs_`, `ghr_`, `github_pat_`"},
    {"github-token", "|github_pat_[A-Za-z0-9_]{20,}", CHECK_NONE, NULL},
    {"gitlab-token",
     "|(glpat|gldt|glrt|glcbt|glptt|glsoat|glft|glagent|glimt|glffct)-[A-Za-z0-9_.-]{16,}",
     CHECK_VALUE, "token of GitLab: `glpat-…` and its relatives"},
    {"bitbucket-token", "|ATBB[A-Za-z0-9]{24,}", CHECK_NONE, "app password of Bitbucket: `ATBB…`"},
    {"atlassian-token", "|ATATT3[A-Za-z0-9_=-]{40,}", CHECK_NONE, "token of Atlassian: `ATATT3…`"},
    {"npm-token", "|npm_[A-Za-z0-9]{30,}", CHECK_NONE,
     "token of npm: `npm_…`, `_authToken=` and `_password=` of a `.npmrc`"},
    {"npm-token", "|_authToken" BLANK "=" BLANK QUOTE "<" BARE "{6,}>", CHECK_VALUE, NULL},
    {"npm-token", "|(_auth|_password)=" QUOTE "<" BARE "{6,}>", CHECK_STRONG, NULL},
    {"pypi-token", "|pypi-" WORD "{32,}", CHECK_NONE, "token of PyPI: `pypi-…`"},
    {"crates-token", "|cio[A-Za-z0-9]{32}|", CHECK_STRONG, "token of crates.io: `cio…`"},
    {"rubygems-key", "|rubygems_" HEX "{40,}", CHECK_NONE, "key of RubyGems: `rubygems_…`"},
    {"nuget-key", "|oy2[a-z0-9]{43}|", CHECK_NONE, "key of NuGet: `oy2…`"},
    {"docker-token", "|dckr_(pat|oat)_" WORD "{20,}", CHECK_NONE,
     "token of Docker Hub: `dckr_pat_…`"},
    {"docker-auth", "\\\\?\"auth\\\\?\"" BLANK ":" BLANK "\\\\?\"<" BASE64 "{12,}>", CHECK_VALUE,
     "`\"auth\": \"…\"` of a Docker or Kubernetes configuration"},
    {"artifactory-key", "|AKCp[A-Za-z0-9]{50,}", CHECK_NONE, "key of Artifactory: `AKCp…`"},
    {"sonar-token", "|sq[pau]_" HEX "{40}|", CHECK_NONE, "token of SonarQube: `squ_…`"},
    {"circleci-token", "|CCI(PAT|PRJ)_[A-Za-z0-9_]{30,}", CHECK_NONE,
     "token of CircleCI: `CCIPAT_…`"},
    {"buildkite-token", "|bk(ua|ct|aj)_[A-Za-z0-9]{20,}", CHECK_NONE,
     "token of Buildkite: `bkua_…`"},
    {"terraform-token", "[A-Za-z0-9]{<8}.atlasv1." WORD "{40,}", CHECK_NONE,
     "token of Terraform Cloud: `….atlasv1.…`"},
    {"pulumi-token", "|pul-" HEX "{40}|", CHECK_NONE, "token of Pulumi: `pul-…`"},
    {"vault-token", "|hv[sbr]." WORD "{20,}", CHECK_NONE,
     "token of Vault: `hvs.…`, `hvb.…`, `hvr.…`"},
    {"doppler-token", "|dp.(pt|st|sa|ct|scim|audit).[A-Za-z0-9_.-]{30,}", CHECK_NONE,
     "token of Doppler: `dp.pt.…`"},
    {"onepassword-token", "|ops_eyJ[A-Za-z0-9_=+/-]{40,}", CHECK_NONE,
     "service account of 1Password: `ops_eyJ…`"},
    {"tailscale-key", "|tskey-(auth|api|client|scim|webhook)-[A-Za-z0-9-]{16,}", CHECK_NONE,
     "key of Tailscale: `tskey-auth-…`"},

    /* models */
    {"anthropic-key", "|sk-ant-" WORD "{20,}", CHECK_NONE, "key of Anthropic: `sk-ant-…`"},
    {"openrouter-key", "|sk-or-v1-" HEX "{32,}", CHECK_NONE, "key of OpenRouter: `sk-or-v1-…`"},
    {"openai-key", "|sk-(proj|svcacct|admin|None)-" WORD "{20,}", CHECK_NONE,
     "key of OpenAI: `sk-…`, `sk-proj-…`; other services use `sk-…` too"},
    {"openai-key", "|sk-[A-Za-z0-9]{20,}", CHECK_STRONG, NULL},
    {"huggingface-token", "|(hf_|api_org_)[A-Za-z0-9]{30,}", CHECK_NONE,
     "token of Hugging Face: `hf_…`"},
    {"groq-key", "|gsk_[A-Za-z0-9]{40,}", CHECK_NONE, "key of Groq: `gsk_…`"},
    {"xai-key", "|xai-[A-Za-z0-9]{60,}", CHECK_NONE, "key of xAI: `xai-…`"},
    {"perplexity-key", "|pplx-[A-Za-z0-9]{40,}", CHECK_NONE, "key of Perplexity: `pplx-…`"},
    {"replicate-token", "|r8_[A-Za-z0-9]{30,}", CHECK_NONE, "token of Replicate: `r8_…`"},

    /* messaging and commerce */
    {"slack-token", "|xox[abceoprs]-[A-Za-z0-9-]{10,}", CHECK_NONE,
     "token of Slack: `xoxb-…`, `xoxp-…`, `xapp-…`"},
    {"slack-token", "|xapp-[0-9]-[A-Za-z0-9-]{20,}", CHECK_NONE, NULL},
    {"slack-webhook", "hooks.slack.com/(services|workflows|triggers)/<[A-Za-z0-9/_-]{20,}>",
     CHECK_NONE, "webhook of Slack"},
    {"teams-webhook", ".webhook.office.com/webhookb2/<[A-Za-z0-9@/-]{30,}>", CHECK_NONE,
     "webhook of Microsoft Teams"},
    {"discord-token", "|[MNO][DTjz][AEIMQUYcgk][w-z0-5]" WORD "{16,28}." WORD "{6}." WORD "{27,}",
     CHECK_NONE, "bot token of Discord"},
    {"discord-webhook", "discord(app)?.com/api/webhooks/[0-9]{15,20}/<" WORD "{30,}>", CHECK_NONE,
     "webhook of Discord"},
    {"telegram-token", "[0-9]{<8}:AA" WORD "{30,}", CHECK_NONE,
     "bot token of Telegram: `12345678:AA…`"},
    {"twilio-key", "|(SK|AC)" HEX "{32}|", CHECK_NONE, "key or account of Twilio: `SK…`, `AC…`"},
    {"sendgrid-key", "|SG." WORD "{16,}." WORD "{16,}", CHECK_NONE, "key of SendGrid: `SG.….…`"},
    {"mailgun-key", "|key-" HEX "{32}|", CHECK_NONE, "key of Mailgun: `key-…`"},
    {"mailchimp-key", HEX "{<32}-us[0-9]{1,2}|", CHECK_NONE, "key of Mailchimp: `…-us12`"},
    {"brevo-key", "|xkeysib-" HEX "{40,}-?[A-Za-z0-9]{0,20}", CHECK_NONE,
     "key of Brevo: `xkeysib-…`"},
    {"stripe-key", "|[sr]k_(live|test)_[A-Za-z0-9]{16,}", CHECK_NONE,
     "key of Stripe: `sk_live_…`, `rk_live_…`, `whsec_…`"},
    {"stripe-key", "|whsec_[A-Za-z0-9+/=]{24,}", CHECK_NONE, NULL},
    {"shopify-token", "|shp(at|ca|pa|ss)_[0-9a-fA-F]{32}", CHECK_NONE,
     "token of Shopify: `shpat_…`"},
    {"square-token", "|sq0(atp|csp|idp)-" WORD "{20,}", CHECK_NONE,
     "token of Square: `sq0atp-…`, `EAAA…`"},
    {"square-token", "|EAAA" WORD "{56,64}|", CHECK_NONE, NULL},
    {"facebook-token", "|EAA[A-Za-z0-9]{80,}", CHECK_NONE, "token of Facebook: `EAA…`"},
    {"dropbox-token", "|sl.(u.)?" WORD "{60,}", CHECK_NONE, "token of Dropbox: `sl.…`"},

    /* collaboration, monitoring */
    {"overseer-token", "|ovs_" WORD "{43}", CHECK_NONE, "token of Overseer: `ovs_…`"},
    {"linear-key", "|lin_(api|oauth)_[A-Za-z0-9]{30,}", CHECK_NONE, "key of Linear: `lin_api_…`"},
    {"notion-token", "|(secret_|ntn_)[A-Za-z0-9]{40,}", CHECK_NONE,
     "token of Notion: `secret_…`, `ntn_…`"},
    {"airtable-token", "|pat[A-Za-z0-9]{14}." HEX "{64}|", CHECK_NONE,
     "token of Airtable: `pat….…`"},
    {"asana-token", "|[012]/[0-9]{10,20}:" HEX "{32}|", CHECK_NONE, "token of Asana: `1/…:…`"},
    {"figma-token", "|fig[dour]_" WORD "{30,}", CHECK_NONE, "token of Figma: `figd_…`"},
    {"postman-key", "|PMAK-" HEX "{20,}-" HEX "{30,}", CHECK_NONE, "key of Postman: `PMAK-…`"},
    {"datadog-key",
     "~(dd_api_key|dd_app_key|dd-api-key|dd-application-key|dd_application_key|"
     "datadog_api_key|datadog_app_key)" IS "<" HEX "{32,40}>|",
     CHECK_NONE, "key of Datadog, by its name"},
    {"newrelic-key", "|(NRAK|NRII|NRAA|NRSP)-[A-Za-z0-9_-]{24,}", CHECK_NONE,
     "key of New Relic: `NRAK-…`"},
    {"grafana-token", "|glsa_[A-Za-z0-9]{20,}_?" HEX "{0,8}", CHECK_NONE,
     "token of Grafana: `glsa_…`, `glc_…`"},
    {"grafana-token", "|glc_" BASE64 "{32,}", CHECK_NONE, NULL},
    {"dynatrace-token", "|dt0[a-z][0-9]{2}.[A-Z0-9]{24}.[A-Z0-9]{64}", CHECK_NONE,
     "token of Dynatrace: `dt0c01.….…`"},
    {"sentry-token", "|sntry[su]_[A-Za-z0-9+/=_-]{32,}", CHECK_NONE,
     "token of Sentry: `sntrys_…`, `sntryu_…`, and the key of a DSN"},
    {"sentry-token", "https://<" HEX "{32}>@[a-z0-9]{1,20}.ingest", CHECK_NONE, NULL},
    {"pagerduty-key",
     "~(pagerduty_api_key|pagerduty_api_token|pagerduty_token|pagerduty_routing_key|pagerduty_key|"
     "pd_api_key)" IS "<[A-Za-z0-9_+-]{16,}>",
     CHECK_VALUE, "key of PagerDuty, by its name, and `Token token=…`"},
    {"pagerduty-key", "~|token token=<[A-Za-z0-9_+-]{16,}>", CHECK_VALUE, NULL},
    {"okta-token", "~(okta_api_token|okta_client_token|okta_token)" IS "<" WORD "{30,}>",
     CHECK_NONE, "token of Okta: `SSWS …`, or by its name"},
    {"okta-token", "|SSWS <" WORD "{30,}>", CHECK_NONE, NULL},

    /* keys */
    {"private-key",
     "-----BEGIN (RSA |EC |DSA |OPENSSH |ENCRYPTED |ED25519 |ANY |)PRIVATE KEY-----"
     "[\\\\\\r\\n]*(-----END)" END_OF_KEY,
     CHECK_NONE, "private key of any kind, the whole block or what is left of it"},
    {"private-key",
     "-----BEGIN (RSA |EC |DSA |OPENSSH |ENCRYPTED |)PRIVATE KEY----- <[A-Za-z0-9+/=\\s]{40,}>",
     CHECK_NONE, NULL},
    {"private-key", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----*(---- END)" END_OF_KEY, CHECK_NONE,
     NULL},
    {"private-key",
     "[A-Za-z0-9+/=\\\\\\r\\n]{<24}-----END (RSA |EC |DSA |OPENSSH |ENCRYPTED |)PRIVATE KEY-----",
     CHECK_NONE, NULL},
    {"putty-key", "PuTTY-User-Key-File-[0-9]: *(Private-MAC: )" HEX "{0,64}", CHECK_NONE,
     "private key file of PuTTY"},
    {"pgp-private-key", "-----BEGIN PGP PRIVATE KEY BLOCK-----*(-----END)" END_OF_KEY, CHECK_NONE,
     "private key block of PGP"},
    {"age-key", "|AGE-SECRET-KEY-1[A-Z0-9]{40,}", CHECK_NONE, "key of age: `AGE-SECRET-KEY-1…`"},
    {"wireguard-key", "~|(privatekey|presharedkey) = <[A-Za-z0-9+/]{43}=>", CHECK_NONE,
     "key in a WireGuard configuration"},
    {"kube-key", "|client-key-data" IS "<" BASE64 "{20,}>", CHECK_NONE,
     "`client-key-data` of a kubeconfig"},
    {"jwt", "|eyJ" WORD "{8,}.eyJ" WORD "{8,}[A-Za-z0-9_.-]{0,}", CHECK_LITERAL,
     "JSON web token: `eyJ….eyJ….…`"},
    {"password-hash", "\\$(5|6|y|2a|2b|2y|argon2id|argon2i)\\$[A-Za-z0-9./$=,+]{20,}", CHECK_NONE,
     "hash of a password, as in `/etc/shadow`"},

    /* headers, cookies, addresses */
    {"authorization", "~authorization: digest <[^\\r\\n']{8,}>", CHECK_NONE,
     "`Authorization:` with its value, and `Bearer …` anywhere"},
    {"authorization", "~authorization" IS "(aws4-hmac-sha256|oauth|hawk) <[^\\r\\n\"']{8,}>",
     CHECK_NONE, NULL},
    {"authorization",
     "~authorization" IS "(bearer|basic|token|apikey|negotiate|bot) <[^\\s\"'\\\\,()]{4,}>",
     CHECK_VALUE, NULL},
    {"authorization", "~authorization" QUOTE BLANK ":" BLANK QUOTE "<[^\\s\"'\\\\,()]{8,}>",
     CHECK_STRONG, NULL},
    {"authorization", "~|bearer <[A-Za-z0-9._~+/=-]{16,}>", CHECK_STRONG, NULL},
    {"cookie",
     "~|(set-cookie|cookie)" QUOTE BLANK ":" BLANK QUOTE
     "<[A-Za-z0-9_.%-]{1,64}=[^\\r\\n\"'\\\\]{1,}>",
     CHECK_LITERAL,
     "`Cookie:` and `Set-Cookie:` headers, `--cookie`, session cookies, `cookies.txt`"},
    {"cookie", "|--cookie[ =]" QUOTE "<[A-Za-z0-9_.%-]{1,64}=[^\\r\\n\"'\\\\]{1,}>", CHECK_LITERAL,
     NULL},
    {"cookie", "~|(sessionid|phpsessid|jsessionid|connect.sid|csrftoken)=<[A-Za-z0-9%._-]{12,}>",
     CHECK_STRONG, NULL},
    {"cookie",
     "\\t(TRUE|FALSE)\\t/[^\\t\\n]{0,64}\\t(TRUE|FALSE)\\t[0-9]{1,12}\\t[^\\t\\n]{1,64}\\t<[^\\s]{1,}>",
     CHECK_NONE, NULL},
    {"cookie", /* the same within JSON */
     "\\\\t(TRUE|FALSE)\\\\t/[^\\\\]{0,64}\\\\t(TRUE|FALSE)\\\\t[0-9]{1,12}\\\\t[^\\\\]{1,64}\\\\t"
     "<[^\\s\\\\\"]{1,}>",
     CHECK_NONE, NULL},
    {"url-password", "://[^\\s/@:\"'<>`]{0,64}:<[^\\s/@\"'<>`]{1,256}>@", CHECK_LITERAL,
     "password in a URL: `https://user:…@host`, `postgres://user:…@host/db`"},
    {"url-password", "://<[A-Za-z0-9_-]{20,}>@", CHECK_STRONG, NULL},

    /* credential files and flags */
    {"netrc",
     "|machine[ \\t]{1,4}[^\\s]{1,64}" BREAK "login[ \\t]{1,4}[^\\s]{1,64}" BREAK
     "password[ \\t]{1,4}<" BARE "{1,}>",
     CHECK_LITERAL, "`machine … login … password …` of a `.netrc`"},
    {"netrc", "|login[ \\t]{1,4}[^\\s]{1,64}" BREAK "password[ \\t]{1,4}<" BARE "{1,}>",
     CHECK_MIXED, NULL},
    {"pgpass",
     ":(5432|5433|5434|6432|6543):[A-Za-z0-9_*-]{1,64}:[A-Za-z0-9_.@*-]{1,64}:<" BARE "{1,}>",
     CHECK_LITERAL, "`host:port:database:user:…` of a `.pgpass`"},
    {"pgpass", "\\*:\\*:\\*:[A-Za-z0-9_-]{1,64}:<" BARE "{1,}>", CHECK_LITERAL, NULL},
    {"flag-password",
     "~|--(password|passwd|pass|token|api-key|apikey|secret|auth-token|access-token|client-secret|"
     "secret-key)=" QUOTE "<" BARE "{1,}>",
     CHECK_VALUE, "`--password …`, `--token …` and such flags, `sshpass -p…`, `mysql -p…`"},
    {"flag-password",
     "~|--(password|passwd|pass|token|api-key|apikey|secret|auth-token|access-token|client-secret|"
     "secret-key)[ ]{1,2}" QUOTE "<[^\\s\"'\\\\`-]" BARE "{3,}>",
     CHECK_VALUE, NULL},
    {"flag-password", "|sshpass -p ?" QUOTE "<" BARE "{1,}>", CHECK_LITERAL, NULL},
    {"flag-password", " -u ?[A-Za-z0-9_.@-]{1,64} -p" QUOTE "<" BARE "{3,}>", CHECK_LITERAL, NULL},
    {"flag-password", "|(mysql|mysqldump|mysqladmin|mariadb) -p<" BARE "{3,}>", CHECK_LITERAL,
     NULL},
    {"flag-password", " (-u|--user|--proxy-user)[ =]" QUOTE "[^\\s:\"'/]{1,64}:<" BARE "{1,}>",
     CHECK_MIXED, NULL},

    /* values named as a secret */
    {"password", ENV_PASSWORDS "=" QUOTE "<" BARE "{1,}>", CHECK_VALUE,
     "the value after a name that ends in password, passwd, passphrase, `_PWD` or `_PASS`"},
    {"password",
     "~" PASSWORDS QUOTE BLANK "[=:]{1,2}[>]?" BLANK
     "[\\\\]{0,3}[\"']<[^\\s\"'\\\\,;:)][^\\r\\n\"'\\\\]{3,}>",
     CHECK_VALUE, NULL},
    {"password", "~" PASSWORDS "(=|: |:  | = )<" ARGUMENT "{6,}>", CHECK_MIXED, NULL},
    {"secret", ENV_SECRETS "=" QUOTE "<" BARE "{8,}>", CHECK_VALUE,
     "the value after a name that ends in secret, token, api_key, access_key, private_key, credentials"},
    {"secret", "~" SECRETS QUOTE BLANK "[=:]{1,2}[>]?" BLANK "[\\\\]{0,3}[\"']<[^\\s\"'\\\\]{8,}>",
     CHECK_STRONG, NULL},
    {"secret", "~" SECRETS "(=|: |:  | = )<" ARGUMENT "{8,}>", CHECK_STRONG, NULL},

    /* telephone numbers */
    {"phone", "|\\+[1-9][0-9]{9,14}|", CHECK_PHONE,
     "telephone number: `+…` with or without blanks, common national forms, and after `phone:`"},
    {"phone", COUNTRY AREA "[0-9]{2,4}" DIGITS DIGITS DIGITS "|", CHECK_PHONE, NULL},
    {"phone", COUNTRY AREA "[0-9]{2,4}" DIGITS DIGITS "|", CHECK_PHONE, NULL},
    {"phone", COUNTRY AREA "[0-9]{2,4}[ ./-][0-9]{2,8}|", CHECK_PHONE, NULL},
    {"phone", COUNTRY AREA "[0-9]{4,10}|", CHECK_PHONE, NULL},
    {"phone", COUNTRY "[0-9]{6,12}|", CHECK_PHONE, NULL},
    {"phone", "|\\([2-9][0-9]{2}\\)[ -]?[2-9][0-9]{2}[ .-][0-9]{4}|", CHECK_PHONE, NULL},
    {"phone", "|[2-9][0-9]{2}-[2-9][0-9]{2}-[0-9]{4}|", CHECK_PHONE, NULL},
    {"phone", "|[2-9][0-9]{2}.[2-9][0-9]{2}.[0-9]{4}|", CHECK_PHONE, NULL},
    {"phone", "|1[-.][2-9][0-9]{2}[-.][2-9][0-9]{2}[-.][0-9]{4}|", CHECK_PHONE, NULL},
    {"phone", "|0[1-9][0-9]{1,3}[/-][ ]?[0-9]{6,8}|", CHECK_PHONE, NULL},
    {"phone", "|01[567][0-9]{1,2} [0-9]{7,8}|", CHECK_PHONE, NULL},
    {"phone", "|07[0-9]{3} [0-9]{6}|", CHECK_PHONE, NULL},
    {"phone", "|0[1-9][.][0-9]{2}[.][0-9]{2}[.][0-9]{2}[.][0-9]{2}|", CHECK_PHONE, NULL},
    {"phone", "|0[67] [0-9]{2} [0-9]{2} [0-9]{2} [0-9]{2}|", CHECK_PHONE, NULL},
    {"phone",
     "~|(telephone|phone|mobile|whatsapp|cell|tel)( number| no.|_number|number|)" IS
     "<[0-9+(][0-9 ()./-]{5,20}>",
     CHECK_CALLED, NULL},
};

const uint32_t SECRET_SHAPE_COUNT = sizeof SECRET_SHAPES / sizeof SECRET_SHAPES[0];
