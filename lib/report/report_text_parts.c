/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the text report: colours, outcomes, the line about help. */
#include "report/report_text.h"

#include <string.h>

#include "report/words.h"

void text_put_colour(const struct text *t, enum colour colour)
{
    static const char *const codes[] = {"\033[1;31m", "\033[33m", "\033[32m", "\033[1m", "\033[0m"};
    if (t->colours)
        g_string_append(t->out, codes[colour]);
}

void text_put_coloured(const struct text *t, enum colour colour, const char *words)
{
    text_put_colour(t, colour);
    g_string_append(t->out, words);
    text_put_colour(t, PLAIN);
}

static enum colour colour_of(int outcome)
{
    return outcome == OUTCOME_FAIL        ? RED
           : outcome == OUTCOME_DEVIATION ? YELLOW
           : outcome == OUTCOME_PASS      ? GREEN
                                          : PLAIN;
}

static void put_first_column(const struct text *t, enum colour colour, const char *word)
{
    g_string_append(t->out, "  ");
    text_put_colour(t, colour);
    g_string_append_printf(t->out, "%-14s", word);
    text_put_colour(t, PLAIN);
}

void text_put_outcome(const struct text *t, int outcome)
{
    put_first_column(t, colour_of(outcome), outcome_name((enum outcome)outcome));
}

bool text_is_cause(const struct text *t, const struct stage *s)
{
    const char *id = t->checked->cause;
    return id && s->outcome == OUTCOME_INCONCLUSIVE && strcmp(s->id, id) == 0;
}

void text_put_stage_outcome(const struct text *t, const struct stage *s)
{
    if (text_is_cause(t, s))
        put_first_column(t, RED, "cause");
    else
        text_put_outcome(t, s->outcome);
}

void text_put_help(const struct text *t, enum rule_number rule, const char *indent)
{
    g_string_append_printf(t->out, "%smore: ", indent);
    words_add_help(t->out, t->report->probed, rule);
    g_string_append_c(t->out, '\n');
}

bool text_shows_stage(const struct text *t, const struct stage *s)
{
    bool open = s->outcome == OUTCOME_INCONCLUSIVE || (s->outcome == OUTCOME_NOTED && s->advice[0]);
    return !t->checked->brief || s->outcome == OUTCOME_FAIL || (t->of_fabric && open);
}
