/* markdown.h - Markdown to HTML by libcmark, which is looked for when it is first needed. */
#ifndef TD_MARKDOWN_H
#define TD_MARKDOWN_H

#include "base/text.h"

/* Appends the HTML of n bytes of CommonMark, raw HTML included; false where libcmark is not
 * installed. */
bool td_markdown_html(TdText *out, const char *text, size_t n);

/* Whether libcmark is installed. */
bool td_markdown_is_here(void);

#endif
