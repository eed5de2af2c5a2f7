/* report/unseen.h - what the checks no longer see of a launch, because they keep no more than they have room for.
 *
 * These are the bounds past which nothing more is kept. Those that forget the oldest of what they keep (a place's
 * readers, a sector's marks) are not in the list, and say nothing. A loss is a line on stderr when the process ends, a
 * notification in the file of --check-json and a text in that of --stats-json. --require-complete makes an exit code of
 * it.
 */
#ifndef REPORT_UNSEEN_H
#define REPORT_UNSEEN_H

/* UNSEEN(name, what may have been missed and why). */
#define UNSEEN_LIST(UNSEEN)                                                                                            \
    UNSEEN(GLOBAL_RACES, "races in global memory: it releases more different words than the checker keeps")            \
    UNSEEN(GLOBAL_MEMORY, "races in global memory: it touches more of it, in smaller pieces, than the checker keeps")  \
    UNSEEN(OPERATIONS,                                                                                                 \
           "races of its last asynchronous operations in global memory: it has more than the checker keeps")           \
    UNSEEN(TENSOR_MAPS, "tensor maps that are used without a fence: it has more release fences than the checker "      \
                        "keeps")

#define UNSEEN_NAME(name, text) UNSEEN_##name,
enum unseen { UNSEEN_LIST(UNSEEN_NAME) UNSEEN_KINDS };
#undef UNSEEN_NAME

static inline const char *unseen_text(enum unseen what) {
#define UNSEEN_TEXT(name, text) text,
    static const char *const texts[UNSEEN_KINDS] = {UNSEEN_LIST(UNSEEN_TEXT)};
#undef UNSEEN_TEXT
    return texts[what];
}

#endif
