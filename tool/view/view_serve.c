#include "view_serve.h"
#include "view_token.h"
#include <string.h>

enum { WHY_CAP = 1024 };

bool view_serve_read(struct view_serve *s, const struct arguments *args, const char *option)
{
    const char *text = argument(args, option), *file = argument(args, "--token-file");
    const bool may_lack = *option_find(args->verb, option)->argument == '['; /* its value */
    *s = (struct view_serve){ 0 };
    if (!text || (may_lack && !*text)) text = "127.0.0.1:0";
    if (!view_address_read(text, &s->config.listen))
        return misused(args->verb,
                       "%s %s: expected ADDRESS or ADDRESS:PORT, as 127.0.0.1:0 or [::1]:8080",
                       option, text);
    const bool is_local = view_address_is_loopback(s->config.listen.host);
    if (file ? !view_token_read(file, s->token) : !is_local && !view_token_draw(s->token))
        return false;
    if (*s->token) s->config.token = s->token;
    if (!is_local)
        caution("%s %s: whoever has the token can read what is shown, and so can those on the "
                "wire: it is not encrypted",
                option, text);
    return true;
}

bool view_serve_open(struct view_serve *s, const struct view_site *site, struct leat_text *address)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    s->config.site = site;
    s->config.files = &view_page;
    s->http = view_http_open(&s->config, &why);
    if (!s->http) return complain("%.*s", (int)why.len, why.buf);
    view_http_address(s->http, address);
    leat_text_putc(address, '\0');
    return true;
}

/* Once per kind. */
static void tell_refusals(struct view_serve *s)
{
    for (enum view_refusal kind = 0; kind < VIEW_REFUSALS; kind++)
        if (!s->told[kind] && view_http_refused(s->http, kind)) {
            s->told[kind] = true;
            caution("a request was refused: %s (further ones are counted)",
                    view_refusal_text(kind));
        }
}

static void tell_counts(const struct view_http *http)
{
    unsigned long long all = 0;
    for (enum view_refusal kind = 0; kind < VIEW_REFUSALS; kind++)
        all += view_http_refused(http, kind);
    if (all) caution("requests refused: %llu", all);
}

void view_serve_wait(struct view_serve *s, int most_ms, const int *more, size_t count)
{
    struct pollfd fds[1 + VIEW_SERVE_MORE_MAX] = { { .fd = view_http_fd(s->http),
                                                     .events = POLLIN } };
    for (size_t i = 0; i < count; i++)
        fds[1 + i] = (struct pollfd){ .fd = more[i], .events = POLLIN };
    poll(fds, 1 + count, view_http_wait_ms(s->http, most_ms));
    view_http_serve(s->http);
    tell_refusals(s);
}

void view_serve_close(struct view_serve *s)
{
    if (!s->http) return;
    tell_counts(s->http);
    view_http_close(s->http);
    s->http = NULL;
}
