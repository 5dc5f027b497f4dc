/* worker.c - requests to the session of Lua, one at a time. */
#include "repl/jupyter/worker.h"

#include <stdio.h>
#include <string.h>

#include "repl/jupyter/utf8.h"
#include "repl/colour.h"
#include "tide.h"

typedef struct Worker {
  struct lua_State *L;
  TdMailbox *asks, *tells;
  bool takes_input; /* whoever sent the request under way can be asked for a line */
} Worker;

/* A request under way. */
typedef struct Job {
  Worker *worker;
  TdArena *arena;
  const json_t *content; /* what is asked */
  const char *code;
  size_t n;
  json_t *reply; /* a new reference; NULL until it is known */
} Job;

/* Sends content, whose reference is taken over, as a message of that type. */
static void tell(Worker *w, const char *type, json_t *content) {
  td_mailbox_send(w->tells, type, content);
}

/* A text as JSON, a new reference. */
static json_t *text_json(TdArena *a, const char *text) {
  return td_utf8_json(a, text, strlen(text));
}

/* {mime: text}, a new reference. */
static json_t *bundle(const TdForms *forms) {
  json_t *data = json_object();
  for (size_t i = 0; i < forms->list.n; i++) {
    const TdForm *f = &forms->list.at[i];
    json_object_set_new(data, f->mime, td_utf8_json(forms->arena, f->data, f->n));
  }
  return data;
}

/* The lines of a text, as a list. */
static json_t *lines(TdArena *a, const char *text) {
  json_t *list = json_array();
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    json_array_append_new(list, td_utf8_json(a, text, n));
  }
  return list;
}

/* What an error and the reply to its cell have in common: a new reference. */
static json_t *failure(TdArena *a, const TdPromptResult *r) {
  json_t *trace = lines(a, r->error), *first = json_array_get(trace, 0);
  return json_pack("{s:o, s:o, s:o}", "ename", text_json(a, r->code ? r->code : "error"), "evalue",
                   first ? json_incref(first) : json_string(""), "traceback", trace);
}

/* Shows the values of a cell. */
static void tell_result(Job *j, const TdPromptResult *r, json_int_t count) {
  TdForms forms = {.arena = j->arena};
  if (r->values == 1)
    td_front_forms(j->worker->L, r->shown, &forms);
  else
    td_vec_push(j->arena, &forms.list, ((TdForm){"text/plain", r->shown, strlen(r->shown)}));
  tell(j->worker, "execute_result",
       json_pack("{s:I, s:o, s:{}}", "execution_count", count, "data", bundle(&forms), "metadata"));
}

/* What a front end is to do after the cell: show help, or leave if `:quit` said so. */
static json_t *payload(struct lua_State *L, TdArena *a, const TdPromptResult *r) {
  json_t *list = json_array();
  if (r->page)
    json_array_append_new(list, json_pack("{s:s, s:{s:o}, s:i}", "source", "page", "data",
                                          "text/plain", text_json(a, r->page), "start", 0));
  if (td_prompt_quits(L))
    json_array_append_new(list, json_pack("{s:s, s:b}", "source", "ask_exit", "keepkernel", 0));
  return list;
}

/* Runs a cell. */
static void execute(struct lua_State *L, Job *j) {
  json_int_t count = json_integer_value(json_object_get(j->content, "execution_count"));
  bool silent = json_is_true(json_object_get(j->content, "silent"));
  TdPromptResult r = {.arena = j->arena, .number = (int)count};
  bool ok = td_prompt_eval(L, j->code, j->n, &r);
  if (ok && r.values && !silent) tell_result(j, &r, count);
  if (ok) {
    j->reply = json_pack("{s:s, s:I, s:o, s:{}}", "status", "ok", "execution_count", count,
                         "payload", payload(L, j->arena, &r), "user_expressions");
    return;
  }
  j->reply = failure(j->arena, &r);
  if (!silent) tell(j->worker, "error", json_copy(j->reply));
  json_object_set_new(j->reply, "status", json_string("error"));
  json_object_set_new(j->reply, "execution_count", json_integer(count));
}

/* The byte that the request's cursor, counted in code points, stands before. */
static size_t cursor_of(const Job *j) {
  const json_t *cursor = json_object_get(j->content, "cursor_pos");
  return json_is_integer(cursor) ? td_utf8_byte(j->code, j->n, json_integer_value(cursor)) : j->n;
}

/* What the text before the cursor can go on as. */
static void complete(struct lua_State *L, Job *j) {
  size_t cursor = cursor_of(j);
  TdPromptItems items = {.arena = j->arena};
  td_prompt_complete(L, j->code, cursor, &items);
  json_t *matches = json_array();
  for (size_t i = 0; i < items.list.n; i++)
    json_array_append_new(matches, text_json(j->arena, items.list.at[i].insert));
  j->reply = json_pack("{s:s, s:o, s:I, s:I, s:{}}", "status", "ok", "matches", matches,
                       "cursor_start", (json_int_t)td_utf8_points(j->code, items.from),
                       "cursor_end", (json_int_t)td_utf8_points(j->code, cursor), "metadata");
}

/* Help on what the cursor stands at. */
static void inspect(struct lua_State *L, Job *j) {
  TdText out = td_text_new(j->arena);
  bool found = td_prompt_inspect(L, j->code, j->n, cursor_of(j), &out);
  json_t *data = json_object();
  if (found)
    json_object_set_new(data, "text/plain", td_utf8_json(j->arena, td_text_str(&out), out.n));
  j->reply =
      json_pack("{s:s, s:b, s:o, s:{}}", "status", "ok", "found", found, "data", data, "metadata");
}

/* Whether a cell is whole, and how its next line is indented if not. */
static void is_complete(struct lua_State *L, Job *j) {
  switch (td_prompt_state(L, j->code, j->n)) {
  case TD_PROMPT_WHOLE: j->reply = json_pack("{s:s}", "status", "complete"); return;
  case TD_PROMPT_WRONG: j->reply = json_pack("{s:s}", "status", "invalid"); return;
  default: break;
  }
  TdText indent = td_text_new(j->arena);
  for (int n = td_colour_indent(j->code, j->n, j->n); n > 0; n--) td_text_putc(&indent, ' ');
  j->reply = json_pack("{s:s, s:s}", "status", "incomplete", "indent", td_text_str(&indent));
}

/* What runs in Lua, by request. */
static const struct {
  const char *request, *reply;
  void (*run)(struct lua_State *L, Job *j);
} jobs[] = {{"execute_request", "execute_reply", execute},
            {"complete_request", "complete_reply", complete},
            {"inspect_request", "inspect_reply", inspect},
            {"is_complete_request", "is_complete_reply", is_complete}};

/* What is asked, and who answers. */
typedef struct Call {
  Job job;
  void (*run)(struct lua_State *L, Job *j);
} Call;

/* A TdPromptCall: runs a Call with its arena. */
static void run_call(struct lua_State *L, TdArena *a, void *ud) {
  Call *call = ud;
  call->job.arena = a;
  call->run(L, &call->job);
}

/* Answers one request; what escapes from it is an error of its reply. */
static void answer(Worker *w, const char *type, json_t *content) {
  size_t i = 0, count = sizeof jobs / sizeof *jobs;
  while (i < count && strcmp(jobs[i].request, type) != 0) i++;
  if (i == count) return;
  const json_t *code = json_object_get(content, "code");
  Call call = {{.worker = w,
                .content = content,
                .code = json_string_value(code),
                .n = json_string_length(code)},
               jobs[i].run};
  w->takes_input = json_is_true(json_object_get(content, "allow_stdin"));
  if (!td_prompt_guard(w->L, run_call, &call) || !call.job.reply)
    call.job.reply = json_pack("{s:s, s:s, s:s, s:[]}", "status", "error", "ename", "error",
                               "evalue", "the kernel could not answer", "traceback");
  tell(w, jobs[i].reply, call.job.reply);
}

/* Shows a value now. */
static void show(void *ud, const TdForms *forms, const char *id, bool update) {
  json_t *content = json_pack("{s:o, s:{}, s:{}}", "data", bundle(forms), "metadata", "transient");
  if (id)
    json_object_set_new(json_object_get(content, "transient"), "display_id",
                        text_json(forms->arena, id));
  tell(ud, update ? "update_display_data" : "display_data", content);
}

/* Takes away what the cell showed. */
static void clear(void *ud, bool wait) {
  tell(ud, "clear_output", json_pack("{s:b}", "wait", wait));
}

/* Asks the user for a line, and waits for it. */
static const char *ask(void *ud, const char *prompt, TdText *line) {
  Worker *w = ud;
  json_t *mail;
  TdMail got;
  if (!w->takes_input) return "this front end takes no input";
  fflush(stdout);
  tell(w, "input_request",
       json_pack("{s:o, s:b}", "prompt", text_json(line->arena, prompt), "password", 0));
  while ((got = td_mailbox_receive_unless(w->asks, td_prompt_was_interrupted, &mail)) == TD_MAIL) {
    const json_t *value = json_object_get(td_mail_content(mail), "value");
    bool told = strcmp(td_mail_type(mail), "input_reply") == 0 && json_is_string(value);
    if (told) td_text_putn(line, json_string_value(value), json_string_length(value));
    json_decref(mail);
    if (told) return NULL;
  }
  return got == TD_MAIL_SIGNAL ? "interrupted" : "the front end is gone";
}

void td_worker_run(struct lua_State *L, TdMailbox *asks, TdMailbox *tells) {
  Worker w = {.L = L, .asks = asks, .tells = tells};
  TdFront front = {.ud = &w, .show = show, .clear = clear, .ask = ask};
  json_t *mail;
  td_front_set(L, &front);
  for (TdMail got; (got = td_mailbox_receive(asks, &mail)) != TD_MAIL_CLOSED;) {
    td_prompt_watch(L, true);
    if (got == TD_MAIL_SIGNAL) continue;
    answer(&w, td_mail_type(mail), td_mail_content(mail));
    json_decref(mail);
  }
  td_prompt_watch(L, false);
  td_front_set(L, NULL);
}
