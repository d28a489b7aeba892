/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the drivers with scenes from real agent programs, split at arbitrary places, with a restart at every byte. */
#include "unit/unit.h"

#include "drive/scene.h"
#include "drivers/drive_acp.h"
#include "drivers/quota_read.h"
#include "hold/wire.h"

#include <malloc.h>

/* ---- scenes ---- */

#define ACP_HELLO \
    "{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':1,'agentCapabilities':{'loadSession':true}}}\n"
#define ACP_NEW \
    "{'jsonrpc':'2.0','id':2,'result':{'sessionId':'s1','modes':{'currentModeId':'default'}}}\n"
#define ACP_OPEN ACP_HELLO ACP_NEW
#define ACP_PONG(id) "{'jsonrpc':'2.0','id':" #id ",'error':{'code':-32601,'message':'no'}}\n"
#define ACP_UPDATE(update) \
    "{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'s1','update':{" update \
    "}}}\n"
#define ACP_SAY(text) \
    ACP_UPDATE("'sessionUpdate':'agent_message_chunk','content':{'type':'text','text':'" text "'}")
#define ACP_END(id, rest) \
    "{'jsonrpc':'2.0','id':" #id ",'result':{'stopReason':'end_turn'" rest "}}\n"
#define ACP_USAGE \
    ",'usage':{'inputTokens':100,'outputTokens':7,'cachedReadTokens':20,'cachedWriteTokens':3,'totalTokens':130}"
#define ACP_ASK(id, options) \
    "{'method':'session/request_permission','params':{'sessionId':'s1','toolCall':{'toolCallId':'t1'," \
    "'title':'touch x','rawInput':{'command':'touch x'}},'options':[" options \
    "]},'jsonrpc':'2.0','id':" id "}\n"
#define ACP_OPTIONS \
    "{'optionId':'always','kind':'allow_always'},{'optionId':'once','kind':'allow_once'}," \
    "{'optionId':'no','kind':'reject_once'}"

#define CLAUDE_HELLO \
    "{'type':'control_response','response':{'subtype':'success','request_id':'overseer-1','response':{}}}\n"
#define CLAUDE_RUN "6395eb4f-9c1e-4a3c-a162-0c0944a77743" /* run id in the scenes */
/* The first dispatch of the scenes. */
#define CLAUDE_1 "'1112958d-934d-4683-b367-3a3c42bae005'"
#define CLAUDE_SAY(text) \
    "{'type':'assistant','message':{'content':[{'type':'text','text':'" text \
    "'}],'usage':{'input_tokens':900," \
    "'output_tokens':100}},'parent_tool_use_id':null}\n"
#define CLAUDE_RESULT(rest) \
    "{'type':'result'," rest \
    ",'total_cost_usd':0.25,'modelUsage':{'m':{'inputTokens':900,'outputTokens':100," \
    "'cacheReadInputTokens':10,'cacheCreationInputTokens':5,'contextWindow':10000}}}\n"

#define ULID "0H2AARV4TDAT1Z6SST7H1BNR05" /* of the first dispatch of the scenes */
#define BLANKS "                                                  "
#define WIDE \
    "\n" BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS \
        BLANKS "."
#define TMUX_SCREEN(text) \
    "%begin 1 2 1\n@screen\n%end 1 2 1\n%begin 1 3 1\n" text "\n%end 9 9 1\n%end 1 3 1\n"
#define TMUX_HOOK_MESSAGE(kind, json) \
    "%window-renamed @0 overseer-hook-" kind "-9\n%begin 1 4 1\n@hook-" kind \
    "-9\n%end 1 4 1\n%begin 1 5 1\n" json "\n%end 1 5 1\n%begin 1 6 1\n%end 1 6 1\n"
#define TMUX_BOOT \
    {"begin", "%begin 1 1 0\n%end 1 1 0\n%session-changed $0 overseer\n%output %0 hello\n"}, { \
        "tick 1", TMUX_SCREEN("\u276F") \
    }
#define TMUX_TAKEN \
    TMUX_HOOK_MESSAGE("submit", "{'session_id':'" CLAUDE_RUN \
                                "','prompt':'do it\\n\\n(overseer dispatch " ULID ")'}")

#define CLAW_KEY "agent:main:overseer-" CLAUDE_RUN
#define CLAW_OPEN(n) "{'type':'bridge','event':'open','connection':" #n "}\n"
#define CLAW_LOST \
    "{'type':'bridge','event':'lost','connection':1,'code':1006,'why':'it hung up','again_ms':250}\n"
#define CLAW_CHALLENGE \
    "{'type':'event','event':'connect.challenge','payload':{'nonce':'n','ts':1}}\n"
#define CLAW_OK(id, payload) "{'type':'res','id':'" id "','ok':true,'payload':{" payload "}}\n"
#define CLAW_NO(id, error) "{'type':'res','id':'" id "','ok':false,'error':{" error "}}\n"
#define CLAW_HELLO(n) \
    CLAW_OPEN(n) \
    CLAW_CHALLENGE CLAW_OK(#n ".1", "'type':'hello-ok','protocol':4") \
        CLAW_OK(#n ".2", "'key':'" CLAW_KEY "'")
#define CLAW_EVENT(run, stream, data) \
    "{'type':'event','event':'agent','payload':{'runId':'" run "','stream':'" stream \
    "','data':{" data "}}}\n"
#define CLAW_HEIR(run, data) \
    "{'type':'event','event':'agent','payload':{'runId':'" run "','sessionKey':'" CLAW_KEY \
    "','stream':'lifecycle','data':{" data "}}}\n"
#define CLAW_SAY(text) CLAW_EVENT(ULID, "assistant", "'text':'" text "','delta':'" text "'")
#define CLAW_TAKEN(id) CLAW_OK(id, "'runId':'" ULID "','status':'accepted'")
#define CLAW_DONE(id) \
    CLAW_OK( \
        id, \
        "'runId':'" ULID \
        "','status':'ok','result':{'payloads':[{'text':'done'}],'meta':{'agentMeta':" \
        "{'contextTokens':1000,'promptTokens':100,'usage':{'total':130,'cost':{'total':0.5}}}}}")
#define CLAW_ASKS_OF(session) \
    "{'type':'event','event':'exec.approval.requested','payload':{'id':'q1','request':{'command':'touch x'," \
    "'sessionKey':'" session "'}}}\n"
#define CLAW_ASKS CLAW_ASKS_OF("agent:main:main") CLAW_ASKS_OF(CLAW_KEY)

#define PRETEND_SAYS(status, summary, next, commits) \
    "Here is where I am.\n\n```json\n{\"overseerUpdate\": {\"goalId\": \"\", \"workNodeId\": \"T1\", " \
    "\"status\": \"" status "\", \"summary\": \"" summary "\", \"next\": \"" next \
    "\", \"blockers\": [], \"evidence\": {\"filesTouched\": [\"src/parse.c\"], " \
    "\"testsRun\": [\"make check\"], \"commits\": [" commits "]}}}\n```\n"
#define PRETEND_DONE PRETEND_SAYS("done", "the parser works", "", "\"1a2b3c4\"")
#define PRETEND_HALF \
    PRETEND_SAYS("in_progress", "half of the parser is written", "write the other half", "")

static const struct scene SCENES[] = {
    {.name = "a turn with a tool and a receipt",
     .driver = "acp",
     .quirk = "claude-agent-acp",
     .rows = "TICK-08 REPORT-04",
     .ask = true,
     .acts =
         {{"begin", ACP_OPEN},
          {"send", ACP_PONG(4) ACP_UPDATE(
                       "'sessionUpdate':'tool_call','toolCallId':'t1','status':'pending',"
                       "'title':'Write x','_meta':{'claudeCode':{'toolName':'Write'}}")
                       ACP_ASK("0", ACP_OPTIONS)},
          {"allow",
           ACP_UPDATE("'sessionUpdate':'tool_call_update','toolCallId':'t1','status':'completed'")
               ACP_SAY("do") ACP_SAY("ne") ACP_UPDATE(
                   "'sessionUpdate':'usage_update','used':500,'size':10000,'cost':{'amount':0.5}")
                   ACP_END(3, ACP_USAGE)}},
     .events =
         "started(s1) accepted tool(Write) asks(0,Write) tool_ended progress(do) progress(ne) "
         "usage(0,500000,500) usage(130,500000,500) ended(done,done)",
     .wrote = {"'protocolVersion':1", "'session/new'", "'command':'/bin/door'",
               "(overseer dispatch ", "'_overseer/ping'",
               "'id':0,'result':{'outcome':{'outcome':'selected','optionId':'once'}}"}},
    {.name = "no is no, and ids may be texts",
     .driver = "acp",
     .quirk = "goose",
     .ask = true,
     .acts = {{"begin", ACP_OPEN "{'jsonrpc':'2.0','id':3,'result':{}}\n"},
              {"send", ACP_ASK("'7b82'", ACP_OPTIONS)},
              {"reject", ACP_SAY("then not") ACP_END(4, "")}},
     .events =
         "started(s1) accepted tool(touch x) asks_to(\"7b82\",touch x) progress(then not) tool_ended "
         "ended(done,then not)",
     .wrote = {"'session/set_mode'", "'modeId':'approve'",
               "'id':'7b82','result':{'outcome':{'outcome':'selected','optionId':'no'}}"}},
    {.name = "an id may be any text, also one with a NUL in it",
     .driver = "acp",
     .quirk = "goose",
     .ask = true,
     .acts = {{"begin", ACP_OPEN "{'jsonrpc':'2.0','id':3,'result':{}}\n"},
              {"send", ACP_ASK("'\\u0000'", ACP_OPTIONS)},
              {"allow", ACP_SAY("so") ACP_END(4, "")}},
     .events =
         "started(s1) accepted tool(touch x) asks_to(\"\\u0000\",touch x) progress(so) tool_ended "
         "ended(done,so)",
     .wrote = {"'id':'\\u0000','result':{'outcome':{'outcome':'selected','optionId':'once'}}"}},
    {.name = "an option that changes the mode is not taken, nor is always",
     .driver = "acp",
     .quirk = "qwen",
     .ask = true,
     .acts = {{"begin", ACP_OPEN},
              {"send", ACP_ASK("5", "{'optionId':'allow_switch_auto','kind':'allow_once'},"
                                    "{'optionId':'proceed','kind':'allow_once'}")},
              {"allow", ACP_ASK("6", "{'optionId':'a','kind':'allow_always'}")},
              {"allow",
               ACP_UPDATE(
                   "'sessionUpdate':'agent_message_chunk','content':{'type':'text','text':''},"
                   "'_meta':{'usage':{'inputTokens':40,'outputTokens':2,'totalTokens':42}}")
                   ACP_END(3, "")}},
     .events =
         "started(s1) accepted tool(touch x) asks_to(5,touch x) asks_to(6,touch x) usage(42,0,0) tool_ended "
         "ended(done,)",
     .wrote = {"'id':5,'result':{'outcome':{'outcome':'selected','optionId':'proceed'}}",
               "'id':6,'result':{'outcome':{'outcome':'cancelled'}}"}},
    {.name = "a cancel answers what is asked, and an error is its end",
     .driver = "acp",
     .quirk = "gemini",
     .ask = true,
     .acts = {{"begin", ACP_OPEN},
              {"send", ACP_SAY("wait") ACP_ASK("0", ACP_OPTIONS)},
              {"interrupt",
               ACP_ASK("1",
                       ACP_OPTIONS) "{'jsonrpc':'2.0','id':3,'error':{'code':1,'message':'x'}}\n"}},
     .events =
         "started(s1) accepted progress(wait) tool(touch x) asks_to(0,touch x) tool_ended ended(cancelled,wait)",
     .wrote = {"'session/cancel'", "'id':0,'result':{'outcome':{'outcome':'cancelled'}}",
               "'id':1,'result':{'outcome':{'outcome':'cancelled'}}"}},
    {.name = "gemini is not broken off before its first word: it would forget the prompt",
     .driver = "acp",
     .quirk = "gemini",
     .acts = {{"begin", ACP_OPEN "{'jsonrpc':'2.0','id':3,'result':{}}\n"},
              {"send", ACP_PONG(5)},
              {"interrupt", NULL}},
     .events =
         "started(s1) accepted broken(its turn hangs, and a cancelled turn would lose the message)",
     .never = "session/cancel"},
    {.name = "who does not stop is broken",
     .driver = "acp",
     .quirk = "goose",
     .acts = {{"begin", ACP_OPEN "{'jsonrpc':'2.0','id':3,'result':{}}\n"},
              {"send", ACP_PONG(5)},
              {"interrupt", NULL},
              {"tick 6", ACP_SAY("late")},
              {"gone 137", NULL}},
     .events =
         "started(s1) accepted broken(it did not stop when it was told to) failed(its process ended with 137)"},
    {.name = "ends that are failures",
     .driver = "acp",
     .quirk = "goose",
     .rows = "FAIL-19",
     .acts = {{"begin", ACP_OPEN "{'jsonrpc':'2.0','id':3,'result':{}}\n"},
              {"send", ACP_SAY("Ran into this error: Server error: 500") ACP_END(4, "")},
              {"send", ACP_SAY("Ran into this error: Rate limit exceeded, retry after 90 seconds")
                           ACP_END(6, "")},
              {"send", ACP_END(8, "")}},
     .events =
         "started(s1) accepted progress(Ran into this error: Server error: 500) "
         "failed(Ran into this error: Server error: 500) accepted "
         "progress(Ran into this error: Rate limit exceeded, retry after 90 seconds) limited(90) "
         "failed(it ended without an error message)"},
    {.name = "a system error that looks like an end",
     .driver = "acp",
     .quirk = "codex-acp",
     .acts =
         {{"begin", ACP_OPEN "{'jsonrpc':'2.0','id':3,'result':{}}\n"},
          {"send",
           ACP_UPDATE(
               "'sessionUpdate':'session_info_update','_meta':{'codex':{'threadStatus':{'type':'active'}}}")
               ACP_SAY("Warning: Model metadata for x not found") ACP_SAY("stream error")
                   ACP_UPDATE(
                       "'sessionUpdate':'session_info_update','_meta':{'codex':{'threadStatus':"
                       "{'type':'systemError'}}}")
                       ACP_END(4, ",'usage':{'totalTokens':9}")},
          {"send",
           ACP_SAY("no usage") ACP_END(6, ",'usage':null,'_meta':{'quota':{'token_count':null}}")}},
     .events =
         "started(s1) accepted progress(stream error) usage(9,0,0) failed(stream error) accepted "
         "progress(no usage) failed(no usage)"},
    {.name = "an error with its time",
     .driver = "acp",
     .quirk = "opencode",
     .rows = "FAIL-19",
     .acts =
         {{"begin", ACP_OPEN},
          {"send",
           "{'jsonrpc':'2.0','id':3,'error':{'code':-32603,'message':'Internal error','data':{'status':429,"
           "'details':'try again in 1m30s'}}}\n"}},
     .events = "started(s1) limited(90)"},
    {.name = "a session is loaded, and what was told before is found",
     .driver = "acp",
     .quirk = "opencode",
     .load = true,
     .acts = {{"begin",
               ACP_HELLO ACP_UPDATE(
                   "'sessionUpdate':'user_message_chunk','content':{'type':'text','text':"
                   "'do it\\n\\n(overseer dis'}")
                   ACP_UPDATE(
                       "'sessionUpdate':'user_message_chunk','content':{'type':'text','text':"
                       "'patch 0H2AARV4TDAT1Z6SST7H1BNR05)'}")
                       ACP_SAY("old words") "{'jsonrpc':'2.0','id':2,'result':{}}\n"},
              {"look", NULL}},
     .events = "started(s1) delivered(yes)",
     .wrote = {"'session/load'", "'sessionId':'s1'"}},
    {.name = "what is not in the history did not arrive",
     .driver = "acp",
     .quirk = "opencode",
     .load = true,
     .acts = {{"begin", ACP_HELLO "{'jsonrpc':'2.0','id':2,'result':{}}\n"}, {"look", NULL}},
     .events = "started(s1) delivered(no)"},
    {.name = "another version is refused",
     .driver = "acp",
     .quirk = "opencode",
     .acts = {{"begin", "{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':2}}\n" ACP_NEW}},
     .events = "broken(it does not support version 1 of the protocol)"},
    {.name = "gemini loads in the next minute",
     .driver = "acp",
     .quirk = "gemini",
     .load = true,
     .acts = {{"begin", ACP_HELLO},
              {"tick 61",
               "{'jsonrpc':'2.0','id':2,'result':{}}\n" ACP_UPDATE(
                   "'sessionUpdate':'user_message_chunk','content':{'type':'text','text':"
                   "'(overseer dispatch 0H2AARV4TDAT1Z6SST7H1BNR05)'}") ACP_SAY("old words")},
              {"tick 1", "{'jsonrpc':'2.0','id':3,'result':{}}\n"},
              {"look", NULL}},
     .events = "started(s1) delivered(yes)",
     .wrote = {"'session/load'", "'modeId':'yolo'"}},
    {.name = "strange frames are answered or left alone",
     .driver = "acp",
     .quirk = "opencode",
     .acts =
         {{"begin", "not JSON\n\n[1,2]\n{}\n{'id':77,'result':{}}\n" ACP_OPEN},
          {"send",
           "{'jsonrpc':'2.0','id':9,'method':'fs/write_text_file','params':{}}\n"
           "{'jsonrpc':'2.0','method':'_auth/status_update'}\n"
           "{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'other','update':{"
           "'sessionUpdate':'agent_message_chunk','content':{'type':'text','text':'not mine'}}}}\n" ACP_SAY(
               "x\\u0000y") ACP_END(3, ",'usage':null")}},
     .events = "started(s1) accepted progress(x) ended(done,x)",
     .wrote = {"'id':9,'error':{'code':-32601"}},
    {.name = "claude: a receipt, a question, a result",
     .driver = "claude",
     .quirk = "claude",
     .rows = "REPORT-04",
     .ask = true,
     .acts =
         {{"begin", CLAUDE_HELLO},
          {"send",
           "{'type':'command_lifecycle','command_uuid':" CLAUDE_1 ",'state':'queued'}\n"
           "{'type':'system','subtype':'init'}\n"
           "{'type':'assistant','message':{'content':[{'type':'tool_use','id':'u1','name':'Bash','input':{}}]}}\n"
           "{'type':'control_request','request_id':'q1','request':{'subtype':'can_use_tool','tool_name':"
           "'Bash','input':{'command':'ls'}}}\n"},
          {"allow",
           "{'type':'user','message':{'content':[{'type':'tool_result','tool_use_id':'u1'}]}}\n" CLAUDE_SAY(
               "done") CLAUDE_RESULT("'subtype':'success','is_error':false,'result':'done'")}},
     .events =
         "started(" CLAUDE_RUN ") accepted tool(Bash) asks(q1,Bash) tool_ended progress(done) "
         "usage(1015,250000,1000) ended(done,done)",
     .wrote = {"'initialize'", "'uuid':" CLAUDE_1, "(overseer dispatch ", "'behavior':'allow'"}},
    {.name = "claude: an error that is called success",
     .driver = "claude",
     .quirk = "claude",
     .rows = "FAIL-19",
     .acts =
         {{"begin", CLAUDE_HELLO},
          {"send",
           CLAUDE_SAY("API Error: 500") CLAUDE_RESULT(
               "'subtype':'success','is_error':true,'api_error_status':500,'result':'API Error: 500'")},
          {"send",
           "{'type':'rate_limit_event','rate_limit_info':{'status':'rejected','resetsAt':1794744600}}\n" CLAUDE_RESULT(
               "'subtype':'success','is_error':true,'api_error_status':429,'result':'limit'")},
          {"send", CLAUDE_RESULT("'subtype':'error_max_turns','is_error':true")}},
     .events = "started(" CLAUDE_RUN
               ") accepted progress(API Error: 500) usage(1015,250000,1000) failed(API Error: 500) "
               "usage(1015,250000,1000) limited(600) usage(1015,250000,1000) accepted ended(cut,)"},
    {.name = "claude: an interrupt answers what is asked",
     .driver = "claude",
     .quirk = "claude",
     .ask = true,
     .acts =
         {{"begin", CLAUDE_HELLO},
          {"send",
           "{'type':'control_request','request_id':'q1','request':{'subtype':'can_use_tool','tool_name':'Bash'}}\n"},
          {"interrupt", CLAUDE_RESULT("'subtype':'error_during_execution','is_error':true")}},
     .events = "started(" CLAUDE_RUN ") asks(q1,Bash) usage(1015,250000,0) ended(cancelled,)",
     .wrote = {"'subtype':'interrupt'", "'behavior':'deny'"}},
    {.name = "claude: what it has seen is not done again",
     .driver = "claude",
     .quirk = "claude",
     .load = true,
     .acts = {{"begin", CLAUDE_HELLO},
              {"send",
               "{'type':'user','uuid':" CLAUDE_1 ",'isReplay':true,'message':{'content':'x'}}\n"},
              {"look", NULL}},
     .events = "started(s1) accepted ended(cut,) delivered(yes)"},
    {.name = "claude: a long limit is not waited for",
     .driver = "claude",
     .quirk = "claude",
     .rows = "FAIL-19",
     .acts =
         {{"begin", CLAUDE_HELLO},
          {"send",
           "{'type':'system','subtype':'api_retry','error_status':429,'retry_delay_ms':900}\n"
           "{'type':'system','subtype':'api_retry','error_status':429,'retry_delay_ms':3600000}\n" CLAUDE_RESULT(
               "'subtype':'error_during_execution','is_error':true")}},
     .events = "started(" CLAUDE_RUN ") usage(1015,250000,0) limited(3600)",
     .wrote = {"'subtype':'interrupt'"}},
    {.name = "claude: every window of its account",
     .driver = "claude",
     .quirk = "claude",
     .acts =
         {{"begin", CLAUDE_HELLO},
          {"send",
           "{'type':'rate_limit_event','rate_limit_info':{'status':'allowed','resetsAt':1794747600,"
           "'rateLimitType':'five_hour','isUsingOverage':false,'unifiedWindows':{'five_hour':{"
           "'utilization':0.62,'resetsAt':1794747600,'status':'allowed'},'seven_day':{"
           "'utilization':0.41,'resetsAt':1794830400,'status':'allowed'}}}}\n" CLAUDE_RESULT(
               "'subtype':'success','result':''")}},
     .events = "started(" CLAUDE_RUN
               ") quota(5h 6200 allowed 3600, 7d 4100 allowed 86400, free) usage(1015,250000,0) "
               "accepted ended(done,)"},
    {.name = "claude: what an older build says, and what it leaves out",
     .driver = "claude",
     .quirk = "claude",
     .acts =
         {{"begin", CLAUDE_HELLO},
          {"send",
           "{'type':'rate_limit_event','rate_limit_info':{'status':'allowed_warning','resetsAt':"
           "1794747600,'rateLimitType':'seven_day_opus','utilization':0.925}}\n"
           "{'type':'rate_limit_event','rate_limit_info':{'status':'allowed','rateLimitType':"
           "'five_hour'}}\n"
           "{'type':'rate_limit_event','rate_limit_info':{'rateLimitType':'overage','utilization':1}}\n"
           "{'type':'rate_limit_event','rate_limit_info':{'rateLimitType':'Not one word'}}\n"
           "{'type':'rate_limit_event','rate_limit_info':{'rateLimitType':'monthly','utilization':"
           "'x','resetsAt':-5}}\n"
           "{'type':'rate_limit_event'}\n" CLAUDE_RESULT("'subtype':'success','result':''")}},
     .events =
         "started(" CLAUDE_RUN
         ") quota(7d-opus 9250 warning 3600) quota(5h ? allowed 0) quota(monthly ? unknown 0) "
         "usage(1015,250000,0) accepted ended(done,)"},
    {.name = "claude: paid extra usage is no limit",
     .driver = "claude",
     .quirk = "claude",
     .acts = {{"begin", CLAUDE_HELLO},
              {"send",
               "{'type':'rate_limit_event','rate_limit_info':{'status':'rejected','resetsAt':"
               "1794747600,'rateLimitType':'five_hour','overageStatus':'allowed',"
               "'isUsingOverage':true,'overageInUse':true,'unifiedWindows':{'five_hour':{"
               "'utilization':1.5,'resetsAt':1794747600}}}}\n" CLAUDE_RESULT(
                   "'subtype':'error','is_error':true,'result':'no'")}},
     .events = "started(" CLAUDE_RUN
               ") quota(5h 10000 rejected 3600, paid 3600) usage(1015,250000,0) failed(no)"},
    {.name = "claude: its process dies",
     .driver = "claude",
     .quirk = "claude",
     .acts = {{"begin", CLAUDE_HELLO},
              {"send", CLAUDE_SAY("half")},
              {"gone 137", NULL},
              {"look", NULL}},
     .events = "started(" CLAUDE_RUN
               ") accepted progress(half) failed(its process ended with 137) delivered(yes)"},
    {.name = "openclaw: a receipt, a tool, and an end under one id",
     .driver = "openclaw",
     .quirk = "openclaw",
     .rows = "ASSIGN-14.a TICK-08 REPORT-04",
     .acts = {{"begin", CLAW_HELLO(1)},
              {"send",
               CLAW_TAKEN("1.3") CLAW_EVENT(ULID, "lifecycle", "'phase':'start'")
                   CLAW_EVENT("other", "assistant", "'delta':'not mine'") CLAW_EVENT(
                       ULID, "item", "'kind':'preamble','phase':'end','progressText':'so'")
                       CLAW_EVENT(ULID, "tool", "'phase':'start','name':'write','toolCallId':'c1'")
                           CLAW_EVENT(ULID, "tool", "'phase':'result','toolCallId':'c1'")
                               CLAW_EVENT(ULID, "usage", "'outputTokens':7") CLAW_SAY("done")
                                   CLAW_EVENT(ULID, "lifecycle", "'phase':'end'") CLAW_DONE("1.3")
                                       CLAW_DONE("1.3")}},
     .events = "started(" CLAW_KEY
               ") accepted progress(so\n) tool(write) tool_ended usage(7,0,0) progress(done) "
               "usage(130,500000,1000) ended(done,so\ndone)",
     .wrote = {"'caps':['tool-events']", "'type':'bridge','session':'" CLAW_KEY "'",
               "'method':'sessions.abort','params':{'key':'" CLAW_KEY "','clearQueued':true}",
               "'cwd':'/tree'", "(overseer dispatch ", "'idempotencyKey':'" ULID "'"},
     .once = "idempotencyKey",
     .never = "token"},
    {.name = "openclaw: a gateway that still starts",
     .driver = "openclaw",
     .quirk = "openclaw",
     .acts = {{"begin", CLAW_LOST CLAW_OPEN(1)
                            CLAW_CHALLENGE CLAW_NO("1.1", "'code':'UNAVAILABLE','retryable':true")
                                CLAW_LOST CLAW_HELLO(2)},
              {"send", CLAW_TAKEN("1.3") CLAW_TAKEN("2.3")},
              {"interrupt", CLAW_OK("2.4", "'status':'aborted'")
                                CLAW_OK("2.3", "'status':'timeout','summary':'aborted'")}},
     .events = "started(" CLAW_KEY ") accepted ended(cancelled,)",
     .wrote = {"'id':'1.1'", "'id':'2.1'", "'id':'2.3'", "'method':'sessions.abort'"}},
    {.name = "openclaw: who is refused is broken",
     .driver = "openclaw",
     .quirk = "openclaw",
     .acts = {{"begin", CLAW_OPEN(1) CLAW_CHALLENGE CLAW_NO("1.1", "'message':'token mismatch'")
                            CLAW_LOST CLAW_HELLO(2)}},
     .events = "broken(the gateway refuses the connection: token mismatch)"},
    {.name = "openclaw: nobody answers",
     .driver = "openclaw",
     .quirk = "openclaw",
     .acts = {{"begin", CLAW_LOST CLAW_LOST}, {"tick 180", NULL}},
     .events = "broken(the gateway does not answer)"},
    {.name = "openclaw: a session that is gone on with, and its limits",
     .driver = "openclaw",
     .quirk = "openclaw",
     .rows = "FAIL-19",
     .load = true,
     .acts =
         {{"begin",
           CLAW_OPEN(1) CLAW_CHALLENGE CLAW_OK("1.1", "'protocol':4") CLAW_OK("1.2", "'key':'s1'")},
          {"send",
           CLAW_TAKEN("1.3") CLAW_EVENT(ULID, "run_status", "'reason':'rate_limit','delayMs':2000")
               CLAW_EVENT(ULID, "run_status", "'reason':'server_error','delayMs':90000")
                   CLAW_EVENT(ULID, "run_status", "'reason':'rate_limit','delayMs':60000")
                       CLAW_OK("1.4", "'status':'aborted'")
                           CLAW_OK("1.3", "'status':'timeout','summary':'aborted'")},
          {"send", CLAW_OK("1.5", "'status':'accepted'")
                       CLAW_NO("1.5", "'message':'HTTP 429, retry after 90 seconds'")},
          {"send",
           CLAW_OK("1.6", "'status':'ok','result':{'payloads':[{'isError':true,'text':'no'}]}")},
          {"send", CLAW_NO("1.7", "'message':'it broke'")}},
     .events = "started(s1) accepted limited(60) accepted limited(90) failed(no) failed(it broke)",
     .wrote = {"'key':'s1'", "'method':'sessions.abort','params':{'key':'s1','runId':'" ULID "'}"}},
    {.name = "openclaw: what was left at work in a session of ours is ended first",
     .driver = "openclaw",
     .quirk = "openclaw",
     .load = true,
     .acts = {{"begin", CLAW_OPEN(1) CLAW_CHALLENGE CLAW_OK("1.1", "'protocol':4")
                            CLAW_OK("1.2", "'key':'" CLAW_KEY "'") CLAW_LOST CLAW_OPEN(2)
                                CLAW_CHALLENGE CLAW_OK("2.1", "'protocol':4")
                                    CLAW_OK("2.2", "'key':'" CLAW_KEY "'") CLAW_OK(
                                        "2.3", "'status':'no-active-run'") CLAW_LOST CLAW_HELLO(3)},
              {"send", CLAW_OK("3.3", "'status':'accepted'")}},
     .events = "started(" CLAW_KEY ") accepted",
     .wrote = {"'id':'1.3','method':'sessions.abort','params':{'key':'" CLAW_KEY
               "','clearQueued':true}",
               "'id':'2.3','method':'sessions.abort'", "'id':'3.3','method':'agent'"}},
    {.name = "openclaw: the connection is lost in mid-turn, and the end is asked for",
     .driver = "openclaw",
     .quirk = "openclaw",
     .rows = "",
     .acts = {{"begin", CLAW_HELLO(1)},
              {"send", CLAW_TAKEN("1.3") CLAW_LOST CLAW_HELLO(2) CLAW_DONE("1.3")
                           CLAW_OK("2.3", "'status':'timeout'")
                               CLAW_OK("2.4", "'session':{'status':'running'}") CLAW_SAY("late")
                                   CLAW_OK("2.5", "'status':'ok','endedAt':5,"
                                                  "'terminalReply':{'text':'all'}")}},
     .events = "started(" CLAW_KEY ") accepted progress(late) ended(done,late)",
     .wrote = {"'method':'agent.wait'", "'timeoutMs':20000", "'method':'sessions.describe'",
               "'timeoutMs':20000"},
     .once = "idempotencyKey"},
    {.name = "openclaw: a gateway that was started again goes on under another name",
     .driver = "openclaw",
     .quirk = "openclaw",
     .rows = "",
     .acts = {{"begin", CLAW_HELLO(1)},
              {"send",
               CLAW_TAKEN("1.3") CLAW_HEIR("not yet", "'phase':'start'") CLAW_LOST CLAW_HELLO(
                   2) CLAW_OK("2.3", "'status':'timeout'") CLAW_HEIR("gone", "'phase':'error'")
                   CLAW_EVENT("other", "lifecycle", "'phase':'start'") CLAW_HEIR(
                       "heir", "'phase':'start'") CLAW_EVENT("heir", "assistant", "'delta':'late'")
                       CLAW_OK("2.4", "'session':{}") CLAW_OK("2.5", "'status':'ok','endedAt':5")},
              {"send", CLAW_OK("2.6", "'status':'accepted'")}},
     .events = "started(" CLAW_KEY ") accepted progress(late) ended(done,late) accepted",
     .wrote = {"'runId':'" ULID "'", "'runId':'heir'"},
     .never = "not yet"},
    {.name = "openclaw: a timeout of agent.wait is no sign of life",
     .driver = "openclaw",
     .quirk = "openclaw",
     .rows = "",
     .acts = {{"begin", CLAW_HELLO(1)},
              {"send",
               CLAW_TAKEN("1.3") CLAW_LOST CLAW_HELLO(2) CLAW_OK("2.3", "'status':'timeout'")
                   CLAW_OK("2.4", "'session':{'status':'done','hasActiveRun':false}")
                       CLAW_OK("2.5", "'status':'timeout'")},
              {"send", CLAW_OK("2.6", "'status':'in_flight'")
                           CLAW_OK("2.7", "'status':'error','endedAt':5,'error':'it broke'")}},
     .events = "started(" CLAW_KEY ") accepted failed(the gateway no longer knows this run) "
               "accepted failed(it broke)",
     .wrote = {"'timeoutMs':20000", "'timeoutMs':1}"}},
    {.name = "openclaw: what never arrived may be said again",
     .driver = "openclaw",
     .quirk = "openclaw",
     .rows = "",
     .acts = {{"begin", CLAW_HELLO(1)},
              {"send", CLAW_LOST CLAW_HELLO(2) CLAW_OK("2.3", "'status':'timeout'")
                           CLAW_OK("2.4", "'session':{}") CLAW_OK("2.5", "'status':'timeout'")
                               CLAW_OK("2.6", "'messages':[{'role':'user','content':'older'}]")},
              {"look", CLAW_OK("2.7", "'messages':[]")},
              {"send", CLAW_OK("2.8", "'status':'accepted'")}},
     .events = "started(" CLAW_KEY ") delivered(no) delivered(no) accepted",
     .wrote = {"'method':'chat.history'"}},
    {.name = "openclaw: the history says what arrived",
     .driver = "openclaw",
     .quirk = "openclaw",
     .rows = "",
     .acts = {{"begin", CLAW_HELLO(1)},
              {"look",
               CLAW_OK("1.3", "'messages':[{'role':'user','content':'x','idempotencyKey':'" ULID
                              ":user'}]")},
              {"look", CLAW_OK("1.4", "'messages':[{'role':'user','content':[{'type':'text','text':"
                                      "'do it\\n(overseer dispatch " ULID ")'}]}],'hasMore':true")},
              {"look", CLAW_OK("1.5", "'messages':[],'hasMore':true")},
              {"look", CLAW_NO("1.6", "'message':'x'")},
              {"look", CLAW_LOST CLAW_HELLO(2) CLAW_OK("2.3", "'messages':[]")}},
     .events = "started(" CLAW_KEY ") delivered(yes) delivered(yes) delivered(unknown) "
               "delivered(unknown) delivered(no)"},
    {.name = "openclaw: a command is asked about, and the answer is not lost",
     .driver = "openclaw",
     .quirk = "openclaw",
     .ask = true,
     .acts = {{"begin", CLAW_HELLO(1)},
              {"send", CLAW_TAKEN("1.3") CLAW_ASKS CLAW_ASKS CLAW_LOST},
              {"allow",
               CLAW_HELLO(
                   2) "{'type':'event','event':'exec.approval.resolved','payload':{'id':'q1'}}\n"},
              {"reject",
               CLAW_OK("2.4", "'status':'ok','endedAt':5,'terminalReply':{'text':'all'}")}},
     .events = "started(" CLAW_KEY ") accepted asks(q1,exec) progress(all) ended(done,all)",
     .wrote = {"'exec-approvals'", "'permissionMode':'guarded'", "'decision':'allow-once'"},
     .once = "allow-once",
     .never = "deny"},
    {.name = "openclaw: a stop that finds nothing, one that is not heard, and the end",
     .driver = "openclaw",
     .quirk = "openclaw",
     .ask = true,
     .acts = {{"begin", CLAW_HELLO(1)},
              {"send", CLAW_TAKEN("1.3") CLAW_ASKS},
              {"interrupt", CLAW_OK("1.5", "'status':'no-active-run'")},
              {"send", CLAW_OK("1.6", "'status':'accepted'")},
              {"interrupt", NULL},
              {"tick 15", NULL},
              {"gone 143", NULL}},
     .events = "started(" CLAW_KEY ") accepted asks(q1,exec) ended(cancelled,) accepted "
               "broken(it did not stop when it was told to) failed(its process ended with 143)",
     .wrote = {"'decision':'deny'", "'method':'sessions.abort'"}},
    {.name = "openclaw: strange frames are left alone",
     .driver = "openclaw",
     .quirk = "openclaw",
     .acts = {{"begin",
               "no JSON\n[]\n{}\n{'type':'res'}\n{'type':'res','id':'1.1','ok':true}\n" CLAW_HELLO(
                   1) CLAW_OK("1.2", "'key':'again'") CLAW_OK("1.99", "") CLAW_OK("x", "")},
              {"send",
               CLAW_TAKEN("1.3") "{'type':'event','event':'tick'}\n" CLAW_EVENT(
                   ULID, "assistant", "'delta':''") CLAW_SAY("no")
                   CLAW_EVENT(ULID, "assistant", "'delta':'yes','replace':true") CLAW_DONE("1.3")}},
     .events = "started(" CLAW_KEY
               ") accepted progress(no) progress(yes) usage(130,500000,1000) ended(done,yes)"},
    {.name = "tmux: pasted once, entered, taken, done",
     .driver = "tmux",
     .quirk = "claude",
     .rows = "",
     .acts = {TMUX_BOOT,
              {"send", NULL},
              {"tick 1",
               TMUX_TAKEN TMUX_HOOK_MESSAGE("tool", "{'tool_name':'Bash','tool_use_id':'u1'}")
                   TMUX_HOOK_MESSAGE("tooled", "{'tool_name':'Bash','tool_use_id':'u1'}")
                       TMUX_HOOK_MESSAGE(
                           "stop", "{'session_id':'another','last_assistant_message':'a title'}")
                           TMUX_HOOK_MESSAGE("stop", "{'session_id':'" CLAUDE_RUN
                                                     "','last_assistant_message':'done'}")}},
     .events =
         "started(" CLAUDE_RUN ") accepted tool(Bash) tool_ended progress(done) ended(done,done)",
     .wrote = {"set-buffer -b overseer-" ULID " 'do it\\012\\012(overseer dispatch " ULID ")'",
               "paste-buffer -p -d -b overseer-" ULID, "send-keys -t overseer: Enter",
               "show-buffer -b overseer-hook-submit-9"},
     .once = "Enter"},
    {.name = "tmux: a hook that was not told of is found",
     .driver = "tmux",
     .quirk = "claude",
     .acts =
         {TMUX_BOOT,
          {"send", NULL},
          {"tick 1", TMUX_TAKEN},
          {"tick 5",
           TMUX_SCREEN(
               "> ") "%begin 1 7 1\n@buffers\n%end 1 7 1\n%begin 1 8 1\noverseer-hook-stop-8\nmine\n"
                     "%end 1 8 1\n%begin 1 4 1\n@hook-stop-8\n%end 1 4 1\n%begin 1 5 1\n{'session_id':'" CLAUDE_RUN
                     "','last_assistant_message':'late'}\n%end 1 5 1\n"}},
     .events = "started(" CLAUDE_RUN ") accepted progress(late) ended(done,late)",
     .wrote = {"@buffers\nlist-buffers", "show-buffer -b overseer-hook-stop-8"},
     .never = "show-buffer -b mine"},
    {.name = "tmux: one more Enter, then doubt, and never a second paste",
     .driver = "tmux",
     .quirk = "claude",
     .rows = "",
     .acts = {TMUX_BOOT,
              {"send", NULL},
              {"tick 1", NULL},
              {"tick 4", TMUX_SCREEN("> do it")},
              {"tick 21", NULL},
              {"look", NULL}},
     .events = "started(" CLAUDE_RUN ") delivered(unknown) delivered(unknown)",
     .wrote = {"paste-buffer", "send-keys -t overseer: Enter", "@screen",
               "send-keys -t overseer: Enter"},
     .once = "paste-buffer"},
    {.name = "tmux: Enter does not answer a dialog",
     .driver = "tmux",
     .quirk = "claude",
     .ask = true,
     .acts = {TMUX_BOOT,
              {"send", NULL},
              {"tick 1", NULL},
              {"tick 4", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")},
              {"allow", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")},
              {"tick 2", TMUX_TAKEN TMUX_HOOK_MESSAGE("fail", "{'session_id':'" CLAUDE_RUN
                                                              "','error':'rate_limit'}")}},
     .events = "started(" CLAUDE_RUN ") asks_to(ask-1,permission) accepted limited(0)",
     .wrote = {"send-keys -t overseer: Enter", "@screen", "send-keys -t overseer: 1"},
     .once = "Enter"},
    {.name = "tmux: yes waits for its dialog, however long that takes to appear",
     .driver = "tmux",
     .quirk = "claude",
     .ask = true,
     .acts = {TMUX_BOOT,
              {"send", NULL},
              {"tick 1", TMUX_TAKEN TMUX_HOOK_MESSAGE(
                             "ask", "{'tool_name':'Write','tool_input':{'file_path':'x'}}")},
              {"allow", TMUX_SCREEN("> do it")},
              {"tick 1", TMUX_SCREEN("> do it")},
              {"tick 1", TMUX_SCREEN("> do it")},
              {"tick 1", TMUX_SCREEN("> do it")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")}},
     .events = "started(" CLAUDE_RUN ") accepted asks(ask-1,Write)",
     .wrote = {"send-keys -t overseer: Enter", "send-keys -t overseer: 1"},
     .once = "send-keys -t overseer: 1"},
    {.name = "tmux: yes waits until its dialog is drawn whole",
     .driver = "tmux",
     .quirk = "claude",
     .ask = true,
     .acts = {TMUX_BOOT,
              {"send", NULL},
              {"tick 1", TMUX_TAKEN TMUX_HOOK_MESSAGE(
                             "ask", "{'tool_name':'Write','tool_input':{'file_path':'x'}}")},
              {"allow", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes\n 2. No")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes\n 2. No")},
              {"tick 2", TMUX_SCREEN("Do you want to proceed?\n 1. Yes\n 2. No")},
              {"tick 5", TMUX_SCREEN("> do it\n esc to interrupt")}},
     .events = "started(" CLAUDE_RUN ") accepted asks(ask-1,Write)",
     .wrote = {"@screen", "@screen", "@screen", "send-keys -t overseer: 1"},
     .once = "send-keys -t overseer: 1"},
    {.name = "tmux: a dialog whose screen goes on changing is answered at the sixth look",
     .driver = "tmux",
     .quirk = "claude",
     .ask = true,
     .acts = {TMUX_BOOT,
              {"send", NULL},
              {"tick 1", TMUX_TAKEN TMUX_HOOK_MESSAGE(
                             "ask", "{'tool_name':'Write','tool_input':{'file_path':'x'}}")},
              {"allow", TMUX_SCREEN("Do you want to proceed?\n 1. Yes\n 1 s")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes\n 2 s")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes\n 3 s")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes\n 4 s")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes\n 5 s")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes\n 6 s")},
              {"tick 2", TMUX_SCREEN("> do it\n esc to interrupt")}},
     .events = "started(" CLAUDE_RUN ") accepted asks(ask-1,Write)",
     .wrote = {"@screen", "@screen", "@screen", "@screen", "@screen", "@screen",
               "send-keys -t overseer: 1"},
     .once = "send-keys -t overseer: 1"},
    {.name = "tmux: a dialog that goes away slowly is not asked about again",
     .driver = "tmux",
     .quirk = "claude",
     .ask = true,
     .acts = {TMUX_BOOT,
              {"send", NULL},
              {"tick 1", TMUX_TAKEN TMUX_HOOK_MESSAGE(
                             "ask", "{'tool_name':'Write','tool_input':{'file_path':'x'}}")},
              {"allow", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")},
              {"tick 2", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")},
              {"tick 5", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")},
              {"tick 5", TMUX_SCREEN("> do it\n esc to interrupt")}},
     .events = "started(" CLAUDE_RUN ") accepted asks(ask-1,Write)",
     .once = "send-keys -t overseer: 1"},
    {.name = "tmux: no ends the turn, and the input is emptied",
     .driver = "tmux",
     .quirk = "claude",
     .ask = true,
     .acts = {TMUX_BOOT,
              {"send", NULL},
              {"tick 1", TMUX_TAKEN TMUX_HOOK_MESSAGE(
                             "ask", "{'tool_name':'Bash','tool_input':{'command':'x'}}")},
              {"reject", TMUX_SCREEN("working")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")},
              {"tick 1", TMUX_SCREEN("Do you want to proceed?\n 1. Yes")},
              {"tick 2", TMUX_SCREEN("> do it")},
              {"tick 1", TMUX_SCREEN("> do it")},
              {"send", NULL}},
     .events = "started(" CLAUDE_RUN ") accepted asks(ask-1,Bash) ended(cancelled,)",
     .wrote = {"send-keys -t overseer: Escape", "send-keys -t overseer: C-u", "paste-buffer"},
     .never = "send-keys -t overseer: 1"},
    {.name = "tmux: work that stops without a word has failed",
     .driver = "tmux",
     .quirk = "claude",
     .acts = {TMUX_BOOT,
              {"send", NULL},
              {"tick 1", TMUX_TAKEN},
              {"tick 5", TMUX_SCREEN("esc to interrupt")},
              {"tick 5", TMUX_SCREEN("broke")},
              {"tick 5", TMUX_SCREEN("broke")},
              {"tick 5", TMUX_SCREEN("broke")},
              {"", "%exit\n"}},
     .events =
         "started(" CLAUDE_RUN ") accepted failed(broke %end 9 9 1) broken(its terminal is gone)"},
    {.name = "tmux: the last screen of a program that has ended is read before its terminal goes",
     .driver = "tmux",
     .quirk = "claude",
     .acts = {TMUX_BOOT,
              {"send", NULL},
              {"tick 1", TMUX_TAKEN},
              {"", "%window-renamed @0 overseer-dead\n"},
              {"",
               "%begin 1 2 1\n@screen-last\n%end 1 2 1\n%begin 1 3 1\nfatal: no\n%end 1 3 1\n"}},
     .events = "started(" CLAUDE_RUN ") accepted broken(its terminal is gone)",
     .wrote = {"@screen", "capture-pane", "@screen"}},
    {.name = "tmux: a limit that the terminal broke into two lines has its time",
     .driver = "tmux",
     .quirk = "claude",
     .acts = {TMUX_BOOT,
              {"send", NULL},
              {"tick 1", TMUX_TAKEN},
              {"tick 5", TMUX_SCREEN("usage limit, try again\nat 12:05 PM." WIDE)},
              {"tick 5", TMUX_SCREEN("usage limit, try again\nat 12:05 PM." WIDE)},
              {"tick 5", TMUX_SCREEN("usage limit, try again\nat 12:05 PM." WIDE)}},
     .events = "started(" CLAUDE_RUN ") accepted limited(360)"},
    {.name = "a command ends well",
     .driver = "command",
     .quirk = "",
     .acts = {{"begin", NULL}, {"send", NULL}, {"gone 0", NULL}},
     .events = "started() accepted ended(done,)",
     .wrote = {"do it", "(overseer dispatch "}},
    {.name = "a command ends badly",
     .driver = "command",
     .quirk = "",
     .acts = {{"begin", NULL}, {"send", NULL}, {"gone 3", NULL}, {"look", NULL}},
     .events = "started() failed(it ended with 3: ) delivered(unknown)"},
    {.name = "somebody else's session is watched to its end",
     .driver = "watched",
     .quirk = "tmux:%3",
     .acts = {{"begin", "{'type':'there','pid':7,'program':'claude','session':'s1'}\n"},
              {"send", "{'type':'turn','busy':true}\n{'type':'words','text':'looking'}\n"
                       "{'type':'tool','id':'t1','name':'Bash'}\n{'type':'tool-end','id':'t1'}\n"
                       "{'type':'progress'}\n{'type':'output'}\n{'type':'unheard-of'}\nno json\n"},
              {"interrupt", NULL},
              {"allow", NULL},
              {"look", "{'type':'turn','busy':false}\n"},
              {"gone 0", NULL}},
     .events = "started(s1) accepted progress(looking) progress(\n) tool(Bash) tool_ended "
               "progress() delivered(yes)"},
    {.name = "a session that cannot be watched",
     .driver = "watched",
     .quirk = "tmux:%3",
     .acts = {{"begin", "{'type':'not','why':'tmux:%3 has ended'}\n"}, {"gone 1", NULL}},
     .events = "broken(tmux:%3 has ended)"},
    {.name = "pretend: it works, reports, and hands over",
     .driver = "pretend",
     .quirk = "works",
     .acts = {{"begin", NULL},
              {"send task T1", NULL},
              {"tick 4", NULL},
              {"tick 4", NULL},
              {"send handover T1", NULL},
              {"tick 4", NULL},
              {"look", NULL}},
     .events = "started() accepted ended(done," PRETEND_DONE ") accepted ended(done," PRETEND_HALF
               ") delivered(yes)"},
    {.name = "pretend: it tells the end of its process",
     .driver = "pretend",
     .quirk = "dies",
     .acts = {{"begin", NULL}, {"send task T1", NULL}, {"tick 4", NULL}},
     .events = "started() accepted exited(139)"},
    {.name = "pretend: a dialog takes an answer and nothing else",
     .driver = "pretend",
     .quirk = "dialog",
     .acts = {{"begin", NULL},
              {"send task T1", NULL},
              {"tick 4", NULL},
              {"send nudge T1", NULL},
              {"look", NULL},
              {"allow", NULL},
              {"tick 4", NULL}},
     .events = "started() accepted asks_to(dialog,) delivered(no) ended(done," PRETEND_DONE ")"},
    {.name = "pretend: a limit with its time",
     .driver = "pretend",
     .quirk = "limited",
     .acts = {{"begin", NULL}, {"send task T1", NULL}, {"tick 4", NULL}},
     .events = "started() accepted limited(9)"},
    {.name = "pretend: a turn that is broken off, and one that fails with its process",
     .driver = "pretend",
     .quirk = "silent",
     .acts = {{"begin", NULL},
              {"send task T1", NULL},
              {"interrupt", "it has no output: this is skipped\n"},
              {"send again T1", NULL},
              {"gone 9", NULL}},
     .events = "started() accepted ended(cancelled,) accepted failed(its process ended with 9)"},
};

/* ' stands for ", as in the scenes. */
static struct str quoted(const char *text, struct arena *arena) {
    char *copy = arena_cstr(arena, str_of(text));
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    return str_of(copy);
}

static void scene_check(const struct scene *scene, const struct played *whole,
                        struct arena *arena) {
    if (!str_equal(whole->shown, str_of(scene->events)))
        fail_msg("%s:\n is     %.*s\n wanted %s", scene->name, STR_ARG(whole->shown),
                 scene->events);
    struct str rest = whole->wrote;
    for (size_t i = 0; i < count_of(scene->wrote) && scene->wrote[i]; i++) {
        struct str part = quoted(scene->wrote[i], arena);
        const char *at = rest.len ? memmem(rest.at, rest.len, part.at, part.len) : NULL;
        check(at, "%s: %.*s is not in\n%.*s", scene->name, STR_ARG(part), STR_ARG(rest));
        rest = (struct str){at, (size_t)(rest.at + rest.len - at)};
    }
}

static void scene_check_counts(const struct scene *scene, const struct played *whole) {
    uint32_t times = 0;
    const char *at = whole->wrote.at, *end = at + whole->wrote.len;
    while (scene->once && (at = memmem(at, (size_t)(end - at), scene->once, strlen(scene->once)))) {
        times++;
        at++;
    }
    check(!scene->once || times == 1, "%s: %s stands there %u times", scene->name, scene->once,
          times);
    check(!scene->never ||
              !memmem(whole->wrote.at, whole->wrote.len, scene->never, strlen(scene->never)),
          "%s: %s stands there", scene->name, scene->never);
}

/* Any split yields the same events and the same answers; so does a restart at every byte. */
static void test_scenes(void **state) {
    (void)state;
    struct chance chance = {.state = 7};
    for (size_t i = 0; i < count_of(SCENES); i++) {
        struct arena arena = {0};
        struct played whole = scene_play(&SCENES[i], CUT_NONE, &chance, &arena);
        scene_check(&SCENES[i], &whole, &arena);
        scene_check_counts(&SCENES[i], &whole);
        for (int times = 0; times < 21; times++) {
            struct played cut =
                scene_play(&SCENES[i], times ? CUT_ANYHOW : CUT_BYTES_AND_FORGET, &chance, &arena);
            check(str_equal(cut.events, whole.events), "%s, cut %d:\n%.*s\n%.*s", SCENES[i].name,
                  times, STR_ARG(cut.events), STR_ARG(whole.events));
            check(str_equal(cut.wrote, whole.wrote), "%s, cut %d", SCENES[i].name, times);
        }
        if (SCENES[i].rows)
            proof_passed("unit", SCENES[i].name, SCENES[i].rows);
        arena_free(&arena);
    }
}

/* ---- lines ---- */

static void test_lines(void **state) {
    (void)state;
    struct drive_lines lines = {0};
    struct str bytes = STR("one\r\n\ntwo"), line;
    assert_true(drive_line(&lines, bytes, 0, &line) && str_equal(line, STR("one")));
    assert_true(drive_line(&lines, bytes, 0, &line) && line.len == 0);
    assert_false(drive_line(&lines, bytes, 0, &line));
    assert_int_equal(lines.begin, 6);
    assert_int_equal(lines.seen, 9);
    assert_true(drive_line(&lines, STR("two\n"), 6, &line) && str_equal(line, STR("two")));
    lines = (struct drive_lines){.begin = 10, .seen = 10 + DRIVE_FRAME};
    assert_false(drive_line_is_too_long(&lines));
    lines.seen++;
    assert_true(drive_line_is_too_long(&lines));
}

/* A line that never ends: the driver reports it as broken and ignores everything after it. */
static void test_line_too_long(void **state) {
    (void)state;
    struct arena arena = {0};
    struct drive_input input = {0};
    const struct driver *driver = &DRIVER_ACP;
    void *acp = calloc(1, driver->size);
    char *bytes = malloc(1 << 20);
    struct drive_out out = {.arena = &arena};
    struct drive_spec spec = {.quirk = STR("opencode"), .cwd = STR("/tree")};
    memset(bytes, 'x', 1 << 20);
    driver->begin(acp, &spec, SECONDS(1), &out);
    for (uint64_t i = 0; i < 12; i++)
        drive_input(&input, driver, acp, (struct str){bytes, 1 << 20}, i << 20, SECONDS(2), &out);
    assert_int_equal(out.event_count, 1);
    assert_int_equal(out.events[0].kind, DRIVE_BROKEN);
    assert_int_equal(driver->resume_at(acp), 12 << 20);
    assert_int_equal(driver->due(acp), TIME_NEVER);
    drive_input_free(&input);
    free(bytes);
    free(acp);
    arena_free(&arena);
}

/* ---- output to the agent ---- */

static size_t memory_used(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* One piece of small lines, each of which is answered: memory use is proportional to the total length of the answers,
 * which are not copied again for each line. */
static void test_many_answers(void **state) {
    (void)state;
    static const struct {
        const struct driver *driver;
        const char *quirk, *line;
    } ROWS[] = {{&DRIVER_ACP, "goose", "{\"id\":0,\"method\":\"a\"}\n"},
                {&DRIVER_CLAUDE, "", "{\"type\":\"control_request\"}\n"},
                {&DRIVER_TMUX, "claude", "%window-renamed @0 overseer-hook-a-1\n"}};
    enum { PIECE = 65536 };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct arena arena = {0};
        struct drive_input input = {0};
        const struct driver *driver = ROWS[i].driver;
        void *driven = calloc(1, driver->size);
        char *piece = malloc(PIECE);
        size_t len = 0, line = strlen(ROWS[i].line);
        struct drive_spec spec = {.quirk = str_of(ROWS[i].quirk), .cwd = STR("/tree")};
        struct drive_out hello = {.arena = &arena}, out = {.arena = &arena, .most = HOLD_WRITE};
        for (; len + line <= PIECE; len += line)
            memcpy(piece + len, ROWS[i].line, line);
        driver->begin(driven, &spec, SECONDS(1), &hello);
        size_t before = memory_used();
        drive_input(&input, driver, driven, (struct str){piece, len}, 0, SECONDS(2), &out);
        check(memory_used() - before < 2 << 20, "%s: %zu bytes for %zu", driver->name,
              memory_used() - before, out.bytes.len);
        check(out.bytes.len > PIECE && !out.too_much, "%s: %zu bytes", driver->name, out.bytes.len);
        drive_resume_set(&out, 7);
        assert_true(out.bytes.len > PIECE);
        drive_input_free(&input);
        free(piece);
        free(driven);
        arena_free(&arena);
    }
}

/* Output up to the limit of one write is sent to its last byte; with one byte more, nothing is sent. */
static void test_too_much_said(void **state) {
    (void)state;
    struct arena arena = {0};
    struct drive_out out = {.arena = &arena, .most = HOLD_WRITE};
    char piece[1024];
    memset(piece, 'x', sizeof piece);
    for (size_t i = 0; i < HOLD_WRITE / sizeof piece; i++)
        drive_say(&out, (struct str){piece, sizeof piece});
    drive_resume_set(&out, 7);
    assert_int_equal(out.bytes.len, HOLD_WRITE);
    assert_int_equal(out.event_count, 0);
    size_t before = memory_used();
    for (size_t i = 0; i < 100; i++)
        drive_say(&out, STR("x"));
    assert_int_equal(memory_used(), before);
    assert_true(out.too_much);
    drive_resume_set(&out, 7);
    assert_int_equal(out.bytes.len, 0);
    assert_int_equal(out.event_count, 1);
    assert_int_equal(out.events[0].kind, DRIVE_BROKEN);
    assert_int_equal(out.events[0].offset, 7);
    assert_true(
        str_equal(out.events[0].text,
                  STR("it has more open permission requests than can be answered at once")));
    arena_free(&arena);
}

/* ---- limits ---- */

static void test_limits(void **state) {
    (void)state;
    const int64_t now = SECONDS(1794744000);
    static const struct {
        const char *text;
        bool is;
        int64_t after_s; /* 0: the text names no time */
    } ROWS[] = {
        {"API Error: 500 Internal server error", false, 0},
        {"overloaded_error: Overloaded", false, 0},
        {"line 14290 of the file", false, 0},
        {"{\"code\":429}", true, 0},
        {"HTTP/1.1 429", true, 0},
        {"429 Slow down", true, 0},
        {"src/parser.c:429: expected ';'", false, 0},
        {"FAIL tests/test_429.py, 429 of 430 passed", false, 0},
        {"assertion on line 429", false, 0},
        {"API Error: 429 too many", true, 0},
        {"Claude AI usage limit reached|1794747600", true, 3600},
        {"Rate limit reached for m in organization o. Please try again in 20s.", true, 20},
        {"rate_limit_exceeded: try again in 6m0s", true, 360},
        {"rate limit, retry after 2.5 seconds", true, 2},
        {"RESOURCE_EXHAUSTED {\"retryDelay\":\"34s\"}", true, 34},
        {"quota exceeded, please retry in 1h2m", true, 3720},
        {"usage limit: resets at 2026-11-15T12:10:00Z", true, 600},
        {"Too Many Requests (\"resets_at\": 1794744060)", true, 60},
        {"rate limit: try again in 150ms", true, 0},
        {"You've hit your usage limit, try again at 1:05 PM.", true, 3960},
        {"You've hit your usage limit, try again at 12:00 PM.", true, 60},
        {"You've hit your usage limit, try again at 11:59 AM.", true, 60},
        {"You've hit your usage limit, try again at 11:30 AM.", true, 84660},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        int64_t until = -1;
        bool is = drive_limit_read(str_of(ROWS[i].text), now, &until);
        check(is == ROWS[i].is, "%s", ROWS[i].text);
        if (is)
            check((until ? (until - now) / 1000000 : 0) == ROWS[i].after_s, "%s: %lld",
                  ROWS[i].text, (long long)until);
    }
    proof_passed("unit", "drive: limits with their time", "FAIL-19");
}

/* ---- launch ---- */

static bool launch_has(const struct drive_launch *launch, const char *text) {
    for (uint32_t i = 0; i < launch->argc; i++)
        if (str_equal(launch->argv[i], str_of(text)))
            return true;
    for (uint32_t i = 0; i < launch->env_count; i++)
        if (memmem(launch->env[i].value.at, launch->env[i].value.len, text, strlen(text)))
            return true;
    for (uint32_t i = 0; i < launch->file_count; i++)
        if (memmem(launch->files[i].text.at, launch->files[i].text.len, text, strlen(text)))
            return true;
    return false;
}

/* SCOPE-08: an operator who sets the variable that holds the list takes control of it, so the list is not reported as
 * enforced. */
static void test_scope_of_the_operator(void **state) {
    (void)state;
    struct arena arena = {0};
    struct drive_launch launch;
    struct str why, deny = STR("bash");
    struct drive_var own = {STR("OPENCODE_PERMISSION"), STR("{}")};
    struct drive_spec spec = {.program = STR("/bin/agent"),
                              .quirk = STR("opencode"),
                              .home = STR("/home"),
                              .cwd = STR("/tree"),
                              .deny = &deny,
                              .deny_count = 1,
                              .env = &own};
    for (spec.env_count = 0; spec.env_count < 2; spec.env_count++) {
        assert_true(DRIVER_ACP.launch(&spec, &arena, &launch, &why));
        assert_int_equal(launch.scope_enforced, spec.env_count == 0);
    }
    arena_free(&arena);
}

/* SCOPE-02, -03, -06, -08: the list is passed to each agent in the agent's own way, at the start and at the resume. */
static void test_scope(void **state) {
    (void)state;
    static const struct {
        const struct driver *driver;
        const char *quirk, *allow, *deny, *seen[3];
        bool enforced;
    } ROWS[] = {
        {&DRIVER_CLAUDE, "", "Read", "Bash", {"--tools", "Read,mcp__overseer", "Bash"}, true},
        {&DRIVER_ACP,
         "opencode",
         "read",
         "bash",
         {"\"*\":\"deny\"", "\"read\":\"allow\"", "\"bash\":\"deny\""},
         true},
        {&DRIVER_ACP,
         "gemini",
         "read_file",
         "run_shell_command",
         {"\"core\":[\"read_file\",\"mcp_overseer_*\",\"mcp_overseer_overseer_update\"",
          "\"exclude\":[\"run_shell_command\"]"},
         true},
        {&DRIVER_ACP, "goose", "shell", "write", {0}, false},
        {&DRIVER_OPENCLAW, "openclaw", "exec", "write", {"gateway", "ws://127.0.0.1:18789"}, false},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct arena arena = {0};
        struct drive_launch launch;
        struct str why, allow = str_of(ROWS[i].allow), deny = str_of(ROWS[i].deny),
                        none = STR("Nonsense");
        struct drive_spec spec = {.program = STR("/bin/agent"),
                                  .quirk = str_of(ROWS[i].quirk),
                                  .home = STR("/home"),
                                  .cwd = STR("/tree"),
                                  .allow = &allow,
                                  .allow_count = 1,
                                  .allow_given = true,
                                  .deny = &deny,
                                  .deny_count = 1};
        for (int resumed = 0; resumed < 2; resumed++) {
            spec.session = resumed ? STR("s1") : STR("");
            assert_true(ROWS[i].driver->launch(&spec, &arena, &launch, &why));
            for (size_t j = 0; j < count_of(ROWS[i].seen) && ROWS[i].seen[j]; j++)
                check(launch_has(&launch, ROWS[i].seen[j]), "%s: %s", ROWS[i].quirk,
                      ROWS[i].seen[j]);
            proof_passed("unit", "drive: the program is started with the list", "SCOPE-08.a");
            assert_int_equal(launch.scope_enforced, ROWS[i].enforced);
            proof_passed("unit", "drive: it is known who keeps to the list", "SCOPE-08.b");
        }
        spec.allow = &none;
        check(ROWS[i].enforced != ROWS[i].driver->launch(&spec, &arena, &launch, &why),
              "%s: a tool that it does not have", ROWS[i].quirk);
        arena_free(&arena);
    }
    proof_passed("unit", "drive: scope", "SCOPE-02 SCOPE-03 SCOPE-06 TEST-15");
}

/* Finds the denied tools in a launch. */
static json_t *denied_json(const struct drive_launch *launch, const char *quirk) {
    for (uint32_t i = 0; i < launch->env_count; i++)
        if (str_equal(launch->env[i].name, STR("OPENCODE_PERMISSION")))
            return drive_json(launch->env[i].value);
    for (uint32_t i = 0; i < launch->file_count; i++)
        if (memmem(launch->files[i].path.at, launch->files[i].path.len, quirk, strlen(quirk)))
            return drive_json(launch->files[i].text);
    return NULL;
}

static bool list_denies(const json_t *all, struct str tool) {
    const json_t *excluded = drive_json_at(all, "tools.exclude"), *one;
    size_t i;
    json_array_foreach(excluded, i, one) if (str_equal(drive_json_text(one), tool)) return true;
    return str_equal(drive_json_text(json_object_getn(all, tool.at, tool.len)), STR("deny"));
}

/* SCOPE-02, SCOPE-08: a list that is reported as enforced is complete, however long it is. A list that cannot be passed
 * on is refused. */
static void test_long_scope(void **state) {
    (void)state;
    static const struct {
        const struct driver *driver;
        const char *quirk;
        bool json;
        size_t len;          /* length of each name in the second, longer list */
        const char *refused; /* expected text of the refusal; NULL: not refused */
    } ROWS[] = {{&DRIVER_ACP, "opencode", true, LIMIT_LINE, "128 KiB"},
                {&DRIVER_ACP, "gemini", true, LIMIT_LINE, NULL},
                {&DRIVER_ACP, "qwen", true, LIMIT_LINE, NULL},
                {&DRIVER_ACP, "claude-agent-acp", false, 100, "too long for a session"},
                {&DRIVER_CLAUDE, "", false, LIMIT_LINE, "128 KiB"},
                {&DRIVER_TMUX, "claude", false, 200, "16 KiB"}};
    enum { DENIED = 2 * LIMIT_LINES };
    static char names[DENIED][LIMIT_LINE + 1];
    static struct str deny[DENIED];
    for (size_t i = 0; i < 2 * count_of(ROWS); i++) {
        size_t row = i / 2, len = i % 2 ? ROWS[i / 2].len : 40;
        struct arena arena = {0};
        struct drive_launch launch;
        struct str why;
        struct drive_spec spec = {.program = STR("/bin/agent"),
                                  .quirk = str_of(ROWS[row].quirk),
                                  .home = STR("/home"),
                                  .cwd = STR("/tree"),
                                  .deny = deny,
                                  .deny_count = DENIED};
        for (int j = 0; j < DENIED; j++) {
            snprintf(names[j], sizeof names[j], "%0*d", (int)len, j);
            deny[j] = str_of(names[j]);
        }
        bool made = ROWS[row].driver->launch(&spec, &arena, &launch, &why);
        check(made == (len == 40 || !ROWS[row].refused), "%s, %zu", ROWS[row].quirk, len);
        if (!made)
            check(memmem(why.at, why.len, ROWS[row].refused, strlen(ROWS[row].refused)), "%.*s",
                  STR_ARG(why));
        json_t *all = made && ROWS[row].json ? denied_json(&launch, ROWS[row].quirk) : NULL;
        for (int j = 0; j < DENIED && made && ROWS[row].json; j++)
            check(all && list_denies(all, deny[j]), "%s: %s", ROWS[row].quirk, names[j]);
        json_decref(all);
        arena_free(&arena);
    }
    proof_passed("unit", "drive: long scope", "SCOPE-02");
}

/* Keys come from the operator, and the operator's values take precedence. */
static void test_launch(void **state) {
    (void)state;
    struct arena arena = {0};
    struct drive_launch launch;
    struct str why;
    const struct drive_var env[] = {{STR("ANTHROPIC_API_KEY"), STR("k")},
                                    {STR("DISABLE_TELEMETRY"), STR("0")}};
    struct drive_spec spec = {.program = STR("/bin/claude"),
                              .home = STR("/home"),
                              .cwd = STR("/tree"),
                              .env = env,
                              .env_count = 2,
                              .base_url = STR("http://127.0.0.1:1"),
                              .ask = true};
    assert_true(DRIVER_CLAUDE.launch(&spec, &arena, &launch, &why));
    assert_true(str_equal(launch.env[0].value, STR("k")));
    for (uint32_t i = 2; i < launch.env_count; i++)
        assert_false(str_equal(launch.env[i].name, STR("DISABLE_TELEMETRY")));
    assert_true(launch_has(&launch, "http://127.0.0.1:1"));
    spec.cwd = STR("/tr\xFF");
    assert_false(DRIVER_CLAUDE.launch(&spec, &arena, &launch, &why));
    spec.quirk = STR("nobody");
    assert_false(DRIVER_ACP.launch(&spec, &arena, &launch, &why));
    assert_null(driver_named(STR("nobody")));
#define SAME_NAME(constant, name, remark) \
    assert_ptr_equal(driver_named(STR(name)), &DRIVER_##constant);
    DRIVER_LIST(SAME_NAME)
    assert_ptr_equal(driver_usual(STR("claude")), &DRIVER_CLAUDE);
    assert_ptr_equal(driver_usual(STR("openclaw")), &DRIVER_OPENCLAW);
    assert_ptr_equal(driver_usual(STR("command")), &DRIVER_COMMAND);
    assert_ptr_equal(driver_usual(STR("tmux")), &DRIVER_ACP);
    assert_ptr_equal(driver_usual(STR("goose")), &DRIVER_ACP);
    arena_free(&arena);
}

static bool launch_holds(const struct drive_launch *launch, const struct drive_spec *spec) {
    uint32_t args = 0, vars = 0;
    for (uint32_t i = 0; i < launch->argc; i++)
        args += args < spec->arg_count && str_equal(launch->argv[i], spec->args[args]);
    for (uint32_t i = 0; i < launch->env_count; i++)
        vars += vars < spec->env_count && str_equal(launch->env[i].name, spec->env[vars].name);
    return args == spec->arg_count && vars == spec->env_count;
}

/* As many args and keys as a setting may have are passed on, in their order, together with those that the driver adds.
 * More are refused. */
static void test_many_args(void **state) {
    (void)state;
    static const struct {
        const struct driver *driver;
        const char *quirk;
        bool scope;
    } ROWS[] = {{&DRIVER_COMMAND, "", false},    {&DRIVER_CLAUDE, "", true},
                {&DRIVER_TMUX, "claude", true},  {&DRIVER_TMUX, "codex", true},
                {&DRIVER_ACP, "opencode", true}, {&DRIVER_ACP, "goose", true},
                {&DRIVER_OPENCLAW, "", true},    {&DRIVER_ADOPTED, "claude", true}};
    enum { MANY = 2 * DRIVE_ARGS };
    static char names[MANY][16];
    static struct str args[MANY];
    static struct drive_var vars[MANY];
    const struct str tool = STR("read"), mcp = STR("mcp__read");
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "n%u", i);
        args[i] = str_of(names[i]);
        vars[i] = (struct drive_var){args[i], STR("v")};
    }
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct arena arena = {0};
        struct drive_launch launch;
        struct str why;
        bool claude = ROWS[i].driver == &DRIVER_CLAUDE || ROWS[i].driver == &DRIVER_TMUX;
        struct drive_spec spec = {.program = STR("/bin/agent"),
                                  .quirk = str_of(ROWS[i].quirk),
                                  .home = STR("/home"),
                                  .cwd = STR("/tree"),
                                  .args = args,
                                  .arg_count = LIMIT_LINES,
                                  .env = vars,
                                  .env_count = LIMIT_LINES,
                                  .model = STR("m"),
                                  .thinking = STR("high"),
                                  .base_url = STR("http://127.0.0.1:1"),
                                  .allow = claude ? &mcp : &tool,
                                  .allow_count = ROWS[i].scope,
                                  .allow_given = ROWS[i].scope,
                                  .deny = &tool,
                                  .deny_count = ROWS[i].scope};
        check(ROWS[i].driver->launch(&spec, &arena, &launch, &why), "%s %s", ROWS[i].driver->name,
              ROWS[i].quirk);
        check(launch_holds(&launch, &spec), "%s %s", ROWS[i].driver->name, ROWS[i].quirk);
        spec.arg_count = MANY;
        assert_false(ROWS[i].driver->launch(&spec, &arena, &launch, &why));
        assert_true(str_begins(why, STR("it has too many args or keys")));
        spec.arg_count = 0;
        spec.env_count = MANY;
        assert_false(ROWS[i].driver->launch(&spec, &arena, &launch, &why));
        assert_true(str_begins(why, STR("it has too many args or keys")));
        arena_free(&arena);
    }
}

/* A line that resembles the previous one is parsed as if it were alone. */
static void test_alike(void **state) {
    (void)state;
    static const char *const LINES[] = {
        "{'a':{'type':'text','text':'one'},'id':'m1'}",
        "{'a':{'type':'text','text':'two'},'id':'m1'}",
        "{'a':{'type':'text','text':''},'id':'m1'}",
        "{'a':{'type':'text','text':'a longer one'},'id':'m1'}",
        "{'a':{'type':'text','text':'a \\' quote'},'id':'m1'}",
        "{'a':{'type':'text','text':'\\u00e9'},'id':'m1'}",
        "{'a':{'type':'text','text':'\xC3\xA9'},'id':'m1'}",
        "{'a':{'type':'text','text':'\xC3'},'id':'m1'}",
        "{'a':{'type':'text','text':'three'},'id':'m1'}",
        "{'a':{'type':'text','text':'four','text':'five'},'id':'m1'}",
        "{'a':{'type':'text','text':'six'},'id':'m1'}",
        "{'a':{'type':'text','text':'six'},'id':'m2'}",
        "{'a':{'type':'text','text':'x','b':'y'},'id':'m2'}",
        "{'a':{'type':'text','text':'x'},'text':'y'}",
        "{'b':{'text':'x'},'a':{'text':7}}",
        "{'a':{'text':'x\ty'}}",
        "{'a':{'text':'x'}}",
        "{'a':{'text':'x'}",
        "",
        "{'a':{'text':'x'}}",
        "{'a':{'text':'}}"};
    struct arena arena = {0};
    struct drive_alike alike = {0};
    for (size_t i = 0; i < 3 * count_of(LINES); i++) {
        struct str line = arena_copy(&arena, str_of(LINES[i % count_of(LINES)]));
        for (char *at = (char *)(uintptr_t)line.at; at < line.at + line.len; at++)
            *at = *at == '\'' ? '"' : *at;
        json_t *alone = drive_json(line);
        const json_t *read = drive_json_alike(&alike, line, "a.text");
        check(alone ? json_equal(alone, read) : !read, "%.*s", STR_ARG(line));
        json_decref(alone);
    }
    drive_alike_free(&alike);
    arena_free(&arena);
}

/* No byte is ever sent to an adopted session, whatever is requested of the driver and whatever it sees. */
static void test_watched_is_not_told(void **state) {
    (void)state;
    for (size_t i = 0; i < count_of(SCENES); i++) {
        struct arena arena = {0};
        if (strcmp(SCENES[i].driver, "watched") == 0)
            assert_int_equal(scene_play(&SCENES[i], CUT_NONE, NULL, &arena).wrote.len, 0);
        arena_free(&arena);
    }
}

/* What a simulated agent shows depends on the time; the next run for its work goes on where it ended. */
static void test_simulation(void **state) {
    (void)state;
    struct arena arena = {0};
    const struct driver *driver = driver_named(STR("pretend"));
    const struct simulation *simulation = driver->simulation;
    struct drive_out out = {.arena = &arena};
    struct drive_spec spec = {.quirk = STR("works"), .pace = 60, .stretches = 2};
    struct observation early = {0}, late = {0};
    void *first = calloc(1, driver->size), *next = calloc(1, driver->size);
    driver->begin(first, &spec, SECONDS(1), &out);
    assert_int_equal(driver->due(first), TIME_NEVER);
    driver->send(first, id_derive(STR("d"), STR("1")), STR("task T1"), SECONDS(1), &out);
    driver->see(first, &early);
    simulation->advance(first, driver->due(first) - 1);
    driver->see(first, &late);
    assert_true(late.at > early.at && late.at < SECONDS(60));
    assert_true(late.process == TRISTATE_YES && late.turn == TRISTATE_YES);
    driver->tick(first, driver->due(first), &out);
    assert_false(simulation->is_done(first));
    driver->gone(first, 0, SECONDS(100), &out);
    driver->begin(next, &spec, SECONDS(100), &out);
    assert_false(simulation->is_done(next));
    simulation->resume(next, first);
    driver->send(next, id_derive(STR("d"), STR("2")), STR("again T1"), SECONDS(100), &out);
    driver->tick(next, driver->due(next), &out);
    assert_true(simulation->is_done(next));
    assert_int_equal(out.events[out.event_count - 1].kind, DRIVE_ENDED);
    spec.quirk = STR("nobody");
    assert_false(
        driver->launch(&spec, &arena, arena_new(&arena, struct drive_launch, 1), &(struct str){0}));
    free(first);
    free(next);
    arena_free(&arena);
}

/* ---- what Codex writes ---- */

static void test_limits_of_codex(void **state) {
    static const char LINE[] =
        "\"timestamp\":\"x\"}\n"
        "{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":null,\"rate_limits\":{"
        "\"primary\":{\"used_percent\":12.5,\"window_minutes\":300,\"resets_at\":1794747600},"
        "\"secondary\":{\"used_percent\":100,\"window_minutes\":10080},"
        "\"credits\":{\"has_credits\":%s,\"unlimited\":false,\"balance\":\"0\"}}}}\n"
        "{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"rate_limits\":null}}\n"
        "{\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"rate_limits\"}}\n"
        "{\"type\":\"event_msg\",\"payl";
    char text[2048];
    struct quota quota;
    (void)state;
    snprintf(text, sizeof text, LINE, "false");
    assert_true(quota_read_codex(str_of(text), &quota));
    assert_string_equal(quota.windows[0].kind, "5h");
    assert_int_equal(quota.windows[0].used, 1251);
    assert_true(quota.windows[0].resets_at == (int64_t)1794747600 * 1000000);
    assert_string_equal(quota.windows[1].kind, "7d");
    assert_int_equal(quota.windows[1].used, 10001);
    assert_true(quota.windows[1].resets_at == 0);
    assert_int_equal(quota.overage, OVERAGE_NO);
    snprintf(text, sizeof text, LINE, "true");
    assert_true(quota_read_codex(str_of(text), &quota));
    assert_int_equal(quota.overage, OVERAGE_YES);
    assert_false(quota_read_codex(STR("no line of it\n\n{\"rate_limits\":1}"), &quota));
    assert_false(quota_read_codex(STR(""), &quota));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes),         cmocka_unit_test(test_simulation),
        cmocka_unit_test(test_lines),          cmocka_unit_test(test_line_too_long),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_scope_of_the_operator),
        cmocka_unit_test(test_scope),          cmocka_unit_test(test_long_scope),
        cmocka_unit_test(test_launch),         cmocka_unit_test(test_many_args),
        cmocka_unit_test(test_many_answers),   cmocka_unit_test(test_too_much_said),
        cmocka_unit_test(test_alike),          cmocka_unit_test(test_watched_is_not_told),
        cmocka_unit_test(test_limits_of_codex)};
    return cmocka_run_group_tests_name("drive", tests, NULL, NULL);
}
