/* inputs.h - the inputs of this session, for history_request. */
#ifndef TD_REPL_JUPYTER_INPUTS_H
#define TD_REPL_JUPYTER_INPUTS_H

#include <jansson.h>

/* Adds input number n to a history, which is a JSON list. */
void td_inputs_add(json_t *history, json_int_t n, const json_t *input);
/* Notes what the last input showed. */
void td_inputs_show(json_t *history, json_t *output);

/* The content of the reply to a request with that content; a new reference. */
json_t *td_inputs_answer(const json_t *history, const json_t *request);

#endif
