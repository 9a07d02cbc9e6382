/* The mailbox: classes by name, in the order of creation, with entries by index. */
#include "pvm_service_parts.h"
#include <regex.h>
#include <stdlib.h>
#include <string.h>

struct letter {
    int index, owner, flags; /* owner 0: gone, and left it here */
    int source, encoding, context, tag, wait_id;
    struct leat_pvm_octets body;
    struct letter *next; /* by index */
};

struct leat_pvm_class {
    char name[LEAT_PVM_NAME_LEN];
    struct letter *letters;
    struct leat_pvm_class *next;
};

/* ---- finding --------------------------------------------------------------------------------- */

static struct leat_pvm_class **class_at(struct leat_pvm_service *service, const char *name)
{
    struct leat_pvm_class **class = &service->mail;
    while (*class && strcmp((*class)->name, name) != 0)
        class = &(*class)->next;
    return class;
}

/* The first whose index is not lower. */
static struct letter **letter_at(struct leat_pvm_class *class, int index)
{
    struct letter **letter = &class->letters;
    while (*letter && (*letter)->index < index)
        letter = &(*letter)->next;
    return letter;
}

static void letter_drop(struct letter **at)
{
    struct letter *letter = *at;
    *at = letter->next;
    leat_pvm_octets_free(&letter->body);
    free(letter);
}

static void class_drop_if_empty(struct leat_pvm_class **at)
{
    struct leat_pvm_class *class = *at;
    if (class->letters) return;
    *at = class->next;
    free(class);
}

static bool may_change(const struct letter *letter, int tid)
{
    return letter->owner == tid || !letter->owner || letter->flags & PvmMboxOverWritable;
}

static const char *read_name(struct leat_pvm_octets *question)
{
    const char *name = leat_pvm_get_text(question);
    return *name && strlen(name) < LEAT_PVM_NAME_LEN ? name : NULL;
}

/* ---- getting --------------------------------------------------------------------------------- */

/* Its index, with the message in the answer; or an error. */
static int get(struct leat_pvm_service *service, struct leat_pvm_entry *entry, const char *name,
               int index, int flags)
{
    struct leat_pvm_class **class = class_at(service, name);
    if (!*class) return PvmNotFound;
    struct letter **at = letter_at(*class, index);
    struct letter *letter = *at;
    if (!letter || (letter->index != index && !(flags & PvmMboxFirstAvail))) return PvmNotFound;
    const bool takes = flags & PvmMboxReadAndDelete;
    if (takes && !may_change(letter, entry->tid)) return PvmDenied;
    const int found = letter->index;
    leat_pvm_put_i32(&entry->answer, letter->source);
    leat_pvm_put_i32(&entry->answer, letter->encoding);
    leat_pvm_put_i32(&entry->answer, letter->context);
    leat_pvm_put_i32(&entry->answer, letter->tag);
    leat_pvm_put_i32(&entry->answer, letter->wait_id);
    leat_pvm_put(&entry->answer, letter->body.at, letter->body.len);
    if (takes) {
        letter_drop(at);
        class_drop_if_empty(class);
    }
    return found;
}

int leat_pvm_on_mail_get(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    const char *name = read_name(&entry->question);
    const int index = leat_pvm_get_i32(&entry->question);
    const int flags = leat_pvm_get_i32(&entry->question);
    if (!name || entry->question.failed) return PvmBadParam;
    const int result = get(service, entry, name, index, flags);
    if (result != PvmNotFound || !(flags & PvmMboxWaitForInfo)) return result;
    entry->waits = LEAT_PVM_WAITS_MAIL;
    snprintf(entry->waits_name, sizeof entry->waits_name, "%s", name);
    entry->waits_number = index;
    entry->waits_flags = flags;
    return LEAT_PVM_LATER;
}

/* Serves waiting tasks whose message may have arrived, in the order of tasks. */
static void serve_waiting(struct leat_pvm_service *service, const char *name)
{
    for (uint32_t i = 0; i < service->config.slots; i++) {
        struct leat_pvm_entry *entry = &service->entry[i];
        if (entry->waits != LEAT_PVM_WAITS_MAIL || strcmp(entry->waits_name, name) != 0) continue;
        const int result = get(service, entry, name, entry->waits_number, entry->waits_flags);
        if (result != PvmNotFound) leat_pvm_reply(service, entry, result);
    }
}

/* ---- putting --------------------------------------------------------------------------------- */

/* The index to use; -1: any. */
static int choose_index(struct leat_pvm_class *class, int index, int flags)
{
    if (index >= 0) return index;
    if (!(flags & PvmMboxMultiInstance)) return 0;
    int free_index = 0;
    for (const struct letter *l = class->letters; l && l->index == free_index; l = l->next)
        free_index++;
    return free_index;
}

static struct leat_pvm_class *class_of(struct leat_pvm_service *service, const char *name)
{
    struct leat_pvm_class **at = class_at(service, name), *class = *at;
    if (class) return class;
    class = leat_child_grown(NULL, 1, sizeof *class);
    *class = (struct leat_pvm_class){ 0 };
    snprintf(class->name, sizeof class->name, "%s", name);
    *at = class;
    return class;
}

/* The letter at this index, new or to be overwritten; NULL: not allowed. */
static struct letter *letter_for(struct leat_pvm_class *class, int index, int flags, int tid)
{
    struct letter **at = letter_at(class, index);
    if (*at && (*at)->index == index)
        return flags & LEAT_PVM_MAIL_FRESH || !may_change(*at, tid) ? NULL : *at;
    struct letter *letter = leat_child_grown(NULL, 1, sizeof *letter);
    *letter = (struct letter){ .index = index, .next = *at };
    *at = letter;
    return letter;
}

int leat_pvm_on_mail_put(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    struct leat_pvm_octets *question = &entry->question;
    const char *name = read_name(question);
    const int wanted = leat_pvm_get_i32(question), flags = leat_pvm_get_i32(question);
    if (!name || question->failed || wanted < -1) return PvmBadParam;
    struct leat_pvm_class *class = class_of(service, name);
    const int index = choose_index(class, wanted, flags);
    struct letter *letter = letter_for(class, index, flags, entry->tid);
    if (!letter) return PvmDenied;
    letter->owner = letter->source = entry->tid;
    letter->flags = flags & LEAT_PVM_MAIL_FLAGS;
    letter->encoding = leat_pvm_get_i32(question);
    letter->context = leat_pvm_get_i32(question);
    letter->tag = leat_pvm_get_i32(question);
    letter->wait_id = leat_pvm_get_i32(question);
    leat_pvm_octets_clear(&letter->body);
    leat_pvm_put(&letter->body, question->at + question->read_at,
                 question->len - question->read_at);
    serve_waiting(service, name);
    return index;
}

int leat_pvm_on_mail_delete(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    const char *name = read_name(&entry->question);
    const int index = leat_pvm_get_i32(&entry->question);
    if (!name || entry->question.failed) return PvmBadParam;
    struct leat_pvm_class **class = class_at(service, name);
    struct letter **at = *class ? letter_at(*class, index) : NULL;
    if (!at || !*at || (*at)->index != index) return PvmNotFound;
    if (!may_change(*at, entry->tid)) return PvmDenied;
    letter_drop(at);
    class_drop_if_empty(class);
    return PvmOk;
}

/* ---- listing --------------------------------------------------------------------------------- */

static int list_class(const struct leat_pvm_class *class, struct leat_pvm_octets *answer)
{
    int count = 0;
    for (const struct letter *l = class->letters; l; l = l->next)
        count++;
    leat_pvm_put_text(answer, class->name);
    leat_pvm_put_i32(answer, count);
    for (const struct letter *l = class->letters; l; l = l->next) {
        leat_pvm_put_i32(answer, l->index);
        leat_pvm_put_i32(answer, l->owner);
        leat_pvm_put_i32(answer, l->flags);
    }
    return count;
}

int leat_pvm_on_mail_list(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    const char *pattern = leat_pvm_get_text(&entry->question);
    const bool all = !*pattern || !strcmp(pattern, "*");
    regex_t expression;
    int count = 0;
    if (!all && regcomp(&expression, pattern, REG_NOSUB)) return PvmBadParam;
    for (const struct leat_pvm_class *c = service->mail; c; c = c->next) {
        if (!all && regexec(&expression, c->name, 0, NULL, 0)) continue;
        list_class(c, &entry->answer);
        count++;
    }
    if (!all) regfree(&expression);
    return count;
}

/* ---- the end --------------------------------------------------------------------------------- */

void leat_pvm_mail_owner_gone(struct leat_pvm_service *service, int tid)
{
    for (struct leat_pvm_class **class = &service->mail; *class;) {
        for (struct letter **at = &(*class)->letters; *at;) {
            struct letter *letter = *at;
            if (letter->owner == tid && !(letter->flags & PvmMboxPersistent)) {
                letter_drop(at);
                continue;
            }
            if (letter->owner == tid) letter->owner = 0;
            at = &letter->next;
        }
        struct leat_pvm_class *here = *class;
        class_drop_if_empty(class);
        if (*class == here) class = &here->next;
    }
}

void leat_pvm_mail_free(struct leat_pvm_service *service)
{
    while (service->mail) {
        while (service->mail->letters)
            letter_drop(&service->mail->letters);
        class_drop_if_empty(&service->mail);
    }
}
