/*
 * The peer of the group `postgresql`: the same work by hand, in C on libpq, with prepared statements and binary
 * parameters.
 *
 *     postgresql-peer URL sql STATEMENT…                   runs statements
 *     postgresql-peer URL create                           makes the peer's tables, equal to those of Keel's store
 *     postgresql-peer URL set CONNECTIONS COUNT VARIANT    upserts and logs; VARIANT is plain, indexed or notify
 *     postgresql-peer URL insert CONNECTIONS COUNT         inserts and logs
 *     postgresql-peer URL trips COUNT                      a write in the two round trips that Keel makes
 *     postgresql-peer URL groups SIZE COUNT                a write in a group of so many, with Keel's statements
 *     postgresql-peer URL get CONNECTIONS COUNT            reads documents of Keel's store by id
 *     postgresql-peer URL top COUNT                        reads the first 20 of a district of Keel's store
 *     postgresql-peer URL hear COUNT QUANTILE              from a commit to a listening connection
 *     postgresql-peer URL feed COUNT                       reads changes of Keel's store in pages of 500
 *
 * Prints one number: microseconds of one call, or zero.
 */

#include <endian.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BOOLEAN = 16, BYTES = 17, INTEGER = 20, BOOLEANS = 1000, BYTE_ARRAYS = 1001, INTEGERS = 1016 };
enum { MOST_KEY = 64, MOST_BODY = 4096, MOST_CONNECTIONS = 256, MOST_GROUP = 500 };

static const char *url;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int64_t wall_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static uint64_t random_number(uint64_t *state) {
    uint64_t mixed = *state += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
}

/* Statements */

static PGconn *connect_to_server(void) {
    PGconn *connection = PQconnectdb(url);
    if (PQstatus(connection) != CONNECTION_OK) fail("connect", PQerrorMessage(connection));
    return connection;
}

static PGresult *checked(PGconn *connection, PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) fail("statement", PQerrorMessage(connection));
    return result;
}

static void run(PGconn *connection, const char *sql) { PQclear(checked(connection, PQexec(connection, sql))); }

/* Returns the rows of a statement in the binary format. */
static PGresult *rows(PGconn *connection, const char *sql) {
    return checked(connection, PQexecParams(connection, sql, 0, NULL, NULL, NULL, NULL, 1));
}

static int64_t integer(PGresult *result, int row, int column) {
    uint64_t number;
    memcpy(&number, PQgetvalue(result, row, column), 8);
    return (int64_t)be64toh(number);
}

/* The parameters of a call. */
typedef struct {
    int count;
    Oid types[16];
    const char *values[16];
    int lengths[16], formats[16];
    uint64_t numbers[16];
} Parameters;

static void add_bytes(Parameters *to, const void *bytes, int length) {
    int place = to->count++;
    to->types[place] = BYTES;
    to->values[place] = bytes;
    to->lengths[place] = length;
    to->formats[place] = 1;
}

static void add_integer(Parameters *to, int64_t number) {
    int place = to->count++;
    to->types[place] = INTEGER;
    to->numbers[place] = htobe64((uint64_t)number);
    to->values[place] = (const char *)&to->numbers[place];
    to->lengths[place] = 8;
    to->formats[place] = 1;
}

static void prepare(PGconn *connection, const char *name, const char *sql, const Parameters *like) {
    PGresult *result = PQprepare(connection, name, sql, like ? like->count : 0, like ? like->types : NULL);
    PQclear(checked(connection, result));
}

static PGresult *call(PGconn *connection, const char *name, const Parameters *with) {
    PGresult *result =
        PQexecPrepared(connection, name, with->count, with->values, with->lengths, with->formats, 1);
    return checked(connection, result);
}

/* Documents */

typedef struct {
    int64_t number;
    char id[MOST_KEY];
    int id_length;
    /* The keys of the two indexes, as they are stored. */
    char keys[2][MOST_KEY];
    int key_lengths[2];
    int64_t indexes[2];
} Document;

static Document *documents;
static int document_count;
/* The collection of the documents, and a body of the usual size. */
static int64_t collection;
static char body[MOST_BODY];
static int body_length;

static void copy_value(PGresult *result, int row, int column, int most, char *to, int *length) {
    *length = PQgetlength(result, row, column);
    if (*length > most) fail("document", "a value is too long");
    memcpy(to, PQgetvalue(result, row, column), *length);
}

/* Reads the ids of a schema's documents in a random order, and with `indexed` the keys of their entries. */
static void load(const char *schema, int indexed, int most) {
    PGconn *connection = connect_to_server();
    char sql[1024];
    snprintf(sql, sizeof sql,
             "SELECT d.did, d.cid, d.id, d.body FROM %s.documents d ORDER BY d.did * 7919 %% 1000003 LIMIT %d", schema,
             most);
    if (indexed)
        snprintf(sql, sizeof sql,
                 "SELECT d.did, d.cid, d.id, d.body, a.key, b.key, a.ix, b.ix FROM %s.documents d "
                 "JOIN %s.entries a ON a.did = d.did JOIN %s.entries b ON b.did = d.did AND b.ix > a.ix "
                 "ORDER BY d.did * 7919 %% 1000003 LIMIT %d",
                 schema, schema, schema, most);
    PGresult *found = rows(connection, sql);
    document_count = PQntuples(found);
    if (document_count == 0) fail("load", "there are no documents");
    documents = calloc(document_count, sizeof *documents);
    for (int row = 0; row < document_count; row++) {
        Document *document = &documents[row];
        document->number = integer(found, row, 0);
        collection = integer(found, row, 1);
        copy_value(found, row, 2, MOST_KEY, document->id, &document->id_length);
        for (int index = 0; indexed && index < 2; index++) {
            copy_value(found, row, 4 + index, MOST_KEY, document->keys[index], &document->key_lengths[index]);
            document->indexes[index] = integer(found, row, 6 + index);
        }
    }
    copy_value(found, 0, 3, MOST_BODY, body, &body_length);
    PQclear(found);
    PQfinish(connection);
}

/* Work on several connections, each with a thread of its own */

typedef struct {
    int number, connections, count;
    const char *variant;
    PGconn *connection;
    void (*step)(void *, int);
    pthread_barrier_t *start;
    uint64_t state;
    char body[MOST_BODY];
    Parameters parameters;
} Worker;

static void *work(void *argument) {
    Worker *worker = argument;
    pthread_barrier_wait(worker->start);
    for (int turn = 0; turn < worker->count; turn++) worker->step(worker, turn);
    return NULL;
}

static const char *log_statement =
    "INSERT INTO peer.changes(store, seq, cid, id, rev, removed, mark) "
    "VALUES (1, nextval('peer.sequence'), $4, $2, $3, false, 1)";
static const char *upsert_statement =
    "INSERT INTO peer.documents(store, did, cid, id, rev, created, updated, body) "
    "VALUES (1, $1, $4, $2, $3, $3, $3, $5) "
    "ON CONFLICT (store, cid, id) DO UPDATE SET rev = excluded.rev, updated = excluded.updated, body = excluded.body";

static void fill_document(Worker *worker, const Document *document) {
    Parameters *parameters = &worker->parameters;
    int64_t time = wall_clock();
    uint64_t change = random_number(&worker->state);
    /* Always a different body. */
    memcpy(worker->body + body_length / 2, &change, sizeof change);
    parameters->count = 0;
    add_integer(parameters, document->number);
    add_bytes(parameters, document->id, document->id_length);
    add_integer(parameters, time);
    add_integer(parameters, collection);
    add_bytes(parameters, worker->body, body_length);
}

static void prepare_set(Worker *worker) {
    char sql[4096], entries[2048] = "";
    int indexed = !strcmp(worker->variant, "indexed");
    memcpy(worker->body, body, body_length);
    fill_document(worker, &documents[0]);
    for (int index = 0; indexed && index < 2; index++) {
        /* Parameters 6 to 8, and 9 to 11: the index, the old key and the new one. */
        int first = 6 + 3 * index;
        snprintf(entries + strlen(entries), sizeof entries - strlen(entries),
                 ", gone%d AS (DELETE FROM peer.entries WHERE store = 1 AND ix = $%d AND cid = $4 AND key = $%d "
                 "AND did = $1), come%d AS (INSERT INTO peer.entries(store, ix, cid, key, did) "
                 "VALUES (1, $%d, $4, $%d, $1) ON CONFLICT DO NOTHING)",
                 index, first, first + 1, index, first, first + 2);
        add_integer(&worker->parameters, 0);
        add_bytes(&worker->parameters, NULL, 0);
        add_bytes(&worker->parameters, NULL, 0);
    }
    snprintf(sql, sizeof sql, "WITH written AS (%s)%s %s%s", upsert_statement, entries, log_statement,
             strcmp(worker->variant, "notify") ? "" : " RETURNING pg_notify('peer', '1')");
    prepare(worker->connection, "set", sql, &worker->parameters);
}

static void step_set(void *argument, int turn) {
    (void)turn;
    Worker *worker = argument;
    /* Each connection has documents of its own, so that it knows their keys. */
    int place = random_number(&worker->state) % (document_count / worker->connections);
    Document *document = &documents[place * worker->connections + worker->number];
    fill_document(worker, document);
    if (!strcmp(worker->variant, "indexed")) {
        for (int index = 0; index < 2; index++) {
            /* The key of another document, which has the right form. */
            int other = random_number(&worker->state) % (document_count / worker->connections);
            const Document *model = &documents[other * worker->connections + worker->number];
            char former[MOST_KEY];
            int length = document->key_lengths[index];
            memcpy(former, document->keys[index], length);
            if (model != document) {
                document->key_lengths[index] = model->key_lengths[index];
                memcpy(document->keys[index], model->keys[index], model->key_lengths[index]);
            }
            Parameters *parameters = &worker->parameters;
            add_integer(parameters, document->indexes[index]);
            if (length == document->key_lengths[index] && !memcmp(former, document->keys[index], length)) {
                /* The same key again: deleting and inserting it in one statement would lose it. */
                add_bytes(parameters, "", 0);
            } else {
                /* The statement is sent before this storage is used again. */
                static _Thread_local char kept[2][MOST_KEY];
                memcpy(kept[index], former, length);
                add_bytes(parameters, kept[index], length);
            }
            add_bytes(parameters, document->keys[index], document->key_lengths[index]);
        }
    }
    PQclear(call(worker->connection, "set", &worker->parameters));
}

static int64_t first_number;

static void step_insert(void *argument, int turn) {
    Worker *worker = argument;
    Document document = {.number = first_number + (int64_t)turn * worker->connections + worker->number};
    document.id_length = snprintf(document.id, sizeof document.id, "%020llx",
                                  (unsigned long long)random_number(&worker->state));
    fill_document(worker, &document);
    PQclear(call(worker->connection, "set", &worker->parameters));
}

static void prepare_get(Worker *worker) {
    worker->parameters.count = 0;
    add_integer(&worker->parameters, collection);
    add_bytes(&worker->parameters, "", 0);
    prepare(worker->connection, "get",
            "SELECT did, cid, id, rev, created, updated, body FROM keel.documents "
            "WHERE store = 1 AND cid = $1 AND id = $2",
            &worker->parameters);
}

static void step_get(void *argument, int turn) {
    (void)turn;
    Worker *worker = argument;
    const Document *document = &documents[random_number(&worker->state) % document_count];
    worker->parameters.count = 0;
    add_integer(&worker->parameters, collection);
    add_bytes(&worker->parameters, document->id, document->id_length);
    PGresult *found = call(worker->connection, "get", &worker->parameters);
    if (PQntuples(found) != 1) fail("get", "a document is missing");
    PQclear(found);
}

/* Returns the microseconds of one call. */
static double measured(int connections, int count, const char *variant, void (*prepare_worker)(Worker *),
                       void (*step)(void *, int)) {
    if (connections < 1 || connections > MOST_CONNECTIONS || document_count < connections)
        fail("arguments", "too many connections, or too few documents");
    Worker *workers = calloc(connections, sizeof *workers);
    pthread_t threads[MOST_CONNECTIONS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, connections + 1);
    for (int number = 0; number < connections; number++) {
        Worker *worker = &workers[number];
        *worker = (Worker){.number = number,
                           .connections = connections,
                           .count = count / connections > 0 ? count / connections : 1,
                           .variant = variant,
                           .connection = connect_to_server(),
                           .step = step,
                           .start = &start,
                           .state = (uint64_t)wall_clock() * (number + 1)};
        prepare_worker(worker);
        if (pthread_create(&threads[number], NULL, work, worker)) fail("thread", "none could be started");
    }
    pthread_barrier_wait(&start);
    double began = now();
    for (int number = 0; number < connections; number++) pthread_join(threads[number], NULL);
    double took = now() - began;
    for (int number = 0; number < connections; number++) PQfinish(workers[number].connection);
    return took / ((double)workers[0].count * connections);
}

/* The two round trips of a commit of Keel */

static void finish_trip(PGconn *connection, int statements) {
    if (!PQpipelineSync(connection)) fail("pipeline", PQerrorMessage(connection));
    for (int statement = 0; statement < statements; statement++) {
        PQclear(checked(connection, PQgetResult(connection)));
        if (PQgetResult(connection)) fail("pipeline", "more results than expected");
    }
    PGresult *sync = PQgetResult(connection);
    if (PQresultStatus(sync) != PGRES_PIPELINE_SYNC) fail("pipeline", PQerrorMessage(connection));
    PQclear(sync);
}

static void send_call(PGconn *connection, const char *name, const Parameters *with) {
    if (!PQsendQueryPrepared(connection, name, with->count, with->values, with->lengths, with->formats, 1))
        fail(name, PQerrorMessage(connection));
}

static double measured_trips(int count) {
    Worker worker = {.connection = connect_to_server(), .state = wall_clock()};
    PGconn *connection = worker.connection;
    memcpy(worker.body, body, body_length);
    fill_document(&worker, &documents[0]);
    Parameters none = {0}, path = {0}, log = {0}, number = {0};
    add_integer(&path, 0);
    add_bytes(&path, "", 0);
    add_integer(&number, 0);
    add_bytes(&log, "", 0);
    add_integer(&log, 0);
    add_integer(&log, 0);
    prepare(connection, "begin", "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", NULL);
    prepare(connection, "tail", "SELECT * FROM peer.stores WHERE store = 1 FOR UPDATE", NULL);
    prepare(connection, "get",
            "SELECT did, cid, id, rev, created, updated, body FROM peer.documents "
            "WHERE store = 1 AND cid = $1 AND id = $2",
            &path);
    prepare(connection, "set", upsert_statement, &worker.parameters);
    prepare(connection, "log",
            "INSERT INTO peer.changes(store, seq, cid, id, rev, removed, mark) "
            "VALUES (1, nextval('peer.sequence'), $2, $1, $3, false, 1)",
            &log);
    prepare(connection, "group",
            "INSERT INTO peer.groups(store, instance, number, seq) VALUES (1, 'peer', $1, $1) "
            "ON CONFLICT (store, instance) DO UPDATE SET number = excluded.number, seq = excluded.seq",
            &number);
    prepare(connection, "move", "UPDATE peer.stores SET seq = $1, mark = $1 WHERE store = 1", &number);
    prepare(connection, "notify", "SELECT pg_notify('peer', '1')", NULL);
    prepare(connection, "commit", "COMMIT", NULL);
    if (!PQenterPipelineMode(connection)) fail("pipeline", PQerrorMessage(connection));
    double began = now();
    for (int turn = 0; turn < count; turn++) {
        const Document *document = &documents[random_number(&worker.state) % document_count];
        path.count = 0;
        add_integer(&path, collection);
        add_bytes(&path, document->id, document->id_length);
        send_call(connection, "begin", &none);
        send_call(connection, "tail", &none);
        send_call(connection, "get", &path);
        finish_trip(connection, 3);
        fill_document(&worker, document);
        int64_t time = wall_clock();
        log.count = 0;
        add_bytes(&log, document->id, document->id_length);
        add_integer(&log, collection);
        add_integer(&log, time);
        number.count = 0;
        add_integer(&number, time);
        send_call(connection, "set", &worker.parameters);
        send_call(connection, "log", &log);
        send_call(connection, "group", &number);
        send_call(connection, "move", &number);
        send_call(connection, "notify", &none);
        send_call(connection, "commit", &none);
        finish_trip(connection, 6);
    }
    double took = now() - began;
    PQfinish(connection);
    return took / count;
}

/* Groups of commits, with the statements of Keel */

/* The bytes of an array parameter. */
typedef struct {
    char *bytes;
    int length, room;
} Array;

static void append(Array *to, const void *bytes, int length) {
    if (to->length + length > to->room) {
        to->room = 2 * (to->length + length);
        to->bytes = realloc(to->bytes, to->room);
    }
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

static void append_length(Array *to, int32_t number) {
    uint32_t bytes = htobe32((uint32_t)number);
    append(to, &bytes, 4);
}

/* Begins an array of one dimension. */
static void begin_array(Array *array, Oid element, int count, int has_null) {
    array->length = 0;
    append_length(array, 1);
    append_length(array, has_null);
    append_length(array, (int32_t)element);
    append_length(array, count);
    append_length(array, 1);
}

static void append_element(Array *to, const void *bytes, int length) {
    append_length(to, length);
    append(to, bytes, length);
}

static void add_array(Parameters *to, Oid type, const Array *array) {
    int place = to->count++;
    to->types[place] = type;
    to->values[place] = array->bytes;
    to->lengths[place] = array->length;
    to->formats[place] = 1;
}

static void add_integers(Parameters *to, Array *array, int count, const int64_t *numbers) {
    begin_array(array, INTEGER, count, 0);
    for (int place = 0; place < count; place++) {
        uint64_t bytes = htobe64((uint64_t)numbers[place]);
        append_element(array, &bytes, 8);
    }
    add_array(to, INTEGERS, array);
}

static void add_nulls(Parameters *to, Array *array, int count) {
    begin_array(array, INTEGER, count, 1);
    for (int place = 0; place < count; place++) append_length(array, -1);
    add_array(to, INTEGERS, array);
}

/* The statements of a group, which change the same rows as Keel's, and their parameters. */
static struct {
    Parameters none, store, lookup, set, log, group, tail;
    Array arrays[24];
    char bodies[MOST_GROUP][MOST_BODY];
} group;

static void fill_group(int size, uint64_t *state, int64_t first) {
    int64_t numbers[MOST_GROUP], collections[MOST_GROUP], sequences[MOST_GROUP], marks[MOST_GROUP];
    const Document *written[MOST_GROUP];
    /* Different documents. */
    int distance = document_count / size, start = random_number(state) % document_count;
    for (int place = 0; place < size; place++) {
        written[place] = &documents[(start + place * distance) % document_count];
        numbers[place] = written[place]->number;
        collections[place] = collection;
        sequences[place] = first + place;
        marks[place] = first;
        uint64_t change = random_number(state);
        memcpy(group.bodies[place] + body_length / 2, &change, sizeof change);
    }
    Array *next = group.arrays;
    Array *ids = next++, *paths = next++, *bodies = next++, *removed = next++;
    begin_array(ids, BYTES, size, 0);
    begin_array(paths, BYTES, size, 0);
    begin_array(bodies, BYTES, size, 0);
    begin_array(removed, BOOLEAN, size, 0);
    for (int place = 0; place < size; place++) {
        append_element(ids, written[place]->id, written[place]->id_length);
        append_element(paths, "", 0);
        append_element(bodies, group.bodies[place], body_length);
        append_element(removed, "", 1);
    }
    group.store.count = group.lookup.count = group.set.count = group.log.count = group.group.count = 0;
    group.tail.count = 0;
    add_integer(&group.store, 1);
    add_integer(&group.lookup, 1);
    add_integers(&group.lookup, next++, size, collections);
    add_array(&group.lookup, BYTE_ARRAYS, paths);
    add_array(&group.lookup, BYTE_ARRAYS, ids);
    add_integer(&group.set, 1);
    add_integers(&group.set, next++, size, numbers);
    add_integers(&group.set, next++, size, collections);
    add_array(&group.set, BYTE_ARRAYS, ids);
    for (int column = 0; column < 3; column++) add_integers(&group.set, next++, size, sequences);
    add_array(&group.set, BYTE_ARRAYS, bodies);
    add_integer(&group.log, 1);
    add_integers(&group.log, next++, size, sequences);
    add_integers(&group.log, next++, size, collections);
    add_array(&group.log, BYTE_ARRAYS, ids);
    add_integers(&group.log, next++, size, sequences);
    add_array(&group.log, BOOLEANS, removed);
    add_integers(&group.log, next++, size, marks);
    add_integers(&group.log, next++, size, sequences);
    for (int column = 0; column < 3; column++) add_nulls(&group.log, next++, size);
    add_integer(&group.group, 1);
    add_bytes(&group.group, "peer", 4);
    add_integer(&group.group, first);
    add_integer(&group.group, first + size);
    add_integer(&group.tail, 1);
    for (int column = 0; column < 8; column++) add_integer(&group.tail, first + size);
}

static void prepare_group(PGconn *connection) {
    static const char *session[] = {"enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_bitmapscan",
                                    "enable_sort", "jit"};
    for (int place = 0; place < 6; place++) {
        char sql[64];
        snprintf(sql, sizeof sql, "SET %s = off", session[place]);
        run(connection, sql);
    }
    run(connection, "SET plan_cache_mode = force_generic_plan");
    run(connection, "SET idle_in_transaction_session_timeout = 5000");
    prepare(connection, "begin", "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", NULL);
    prepare(connection, "lock",
            "SELECT s.*, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, "
            "CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END "
            "FROM peer.stores s WHERE store = $1 FOR UPDATE",
            &group.store);
    prepare(connection, "lookup",
            "SELECT p.n, c.cid, d.did, d.rev, d.created, d.updated, d.body, r.time "
            "FROM unnest($2::bigint[], $3::bytea[], $4::bytea[]) WITH ORDINALITY AS p(cid, path, id, n) "
            "LEFT JOIN LATERAL (SELECT p.cid WHERE p.cid IS NOT NULL UNION ALL SELECT cid FROM keel.collections "
            "WHERE p.cid IS NULL AND store = $1 "
            "AND substring(path FROM 1 FOR 2000) = substring(p.path FROM 1 FOR 2000) AND path = p.path) c ON true "
            "LEFT JOIN LATERAL (SELECT did, rev, created, updated, body FROM peer.documents "
            "WHERE store = $1 AND cid = c.cid AND id = p.id LIMIT 1) d ON true "
            "LEFT JOIN LATERAL (SELECT coalesce(time, seq) AS time FROM peer.changes WHERE d.did IS NULL AND removed "
            "AND store = $1 AND cid = c.cid AND id = p.id ORDER BY seq DESC LIMIT 1) r ON true",
            &group.lookup);
    prepare(connection, "set",
            "INSERT INTO peer.documents(store, did, cid, id, rev, created, updated, body) "
            "SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[], "
            "$7::bigint[], $8::bytea[]) ON CONFLICT (store, cid, id) DO UPDATE SET "
            "rev = excluded.rev, created = excluded.created, updated = excluded.updated, body = excluded.body",
            &group.set);
    prepare(connection, "log",
            "INSERT INTO peer.changes(store, seq, cid, id, rev, removed, mark, total, time, client, mutation) "
            "SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::boolean[], "
            "$7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])",
            &group.log);
    prepare(connection, "group",
            "INSERT INTO peer.groups(store, instance, number, seq) VALUES ($1, $2, $3, $4) "
            "ON CONFLICT (store, instance) DO UPDATE SET number = excluded.number, seq = excluded.seq",
            &group.group);
    prepare(connection, "tail",
            "UPDATE peer.stores SET seq = $2, mark = $3, floor = $4, documents = $5, collections = $6, clients = $7, "
            "timeline = $8, total = $9 WHERE store = $1",
            &group.tail);
    prepare(connection, "notify", "SELECT pg_notify('peer', '1')", NULL);
    prepare(connection, "commit", "COMMIT", NULL);
}

static double measured_groups(int size, int count) {
    if (size > MOST_GROUP || size > document_count) fail("arguments", "the group is too large");
    PGconn *connection = connect_to_server();
    uint64_t state = wall_clock();
    for (int place = 0; place < MOST_GROUP; place++) memcpy(group.bodies[place], body, body_length);
    int64_t first = integer(rows(connection, "SELECT nextval('peer.sequence')"), 0, 0);
    fill_group(size, &state, first);
    prepare_group(connection);
    if (!PQenterPipelineMode(connection)) fail("pipeline", PQerrorMessage(connection));
    int turns = count / size > 0 ? count / size : 1;
    double began = now();
    for (int turn = 0; turn < turns; turn++, first += size) {
        fill_group(size, &state, first);
        send_call(connection, "begin", &group.none);
        send_call(connection, "lock", &group.store);
        send_call(connection, "lookup", &group.lookup);
        finish_trip(connection, 3);
        send_call(connection, "set", &group.set);
        send_call(connection, "log", &group.log);
        send_call(connection, "group", &group.group);
        send_call(connection, "tail", &group.tail);
        send_call(connection, "notify", &group.none);
        send_call(connection, "commit", &group.none);
        finish_trip(connection, 6);
    }
    double took = now() - began;
    PQexitPipelineMode(connection);
    char sql[64];
    snprintf(sql, sizeof sql, "SELECT setval('peer.sequence', %lld)", (long long)first);
    run(connection, sql);
    PQfinish(connection);
    return took / ((double)turns * size);
}

/* Queries of Keel's store */

static double measured_top(int count) {
    PGconn *connection = connect_to_server();
    PGresult *found = rows(connection,
                           "SELECT ix, cid, substring(key FROM 1 FOR position('district 0'::bytea IN key) + 9) "
                           "FROM keel.entries WHERE position('district 0'::bytea IN key) > 0 "
                           "ORDER BY store, ix, cid, key LIMIT 1");
    if (PQntuples(found) != 1) fail("top", "there are no entries");
    int64_t index = integer(found, 0, 0), of = integer(found, 0, 1);
    char first[MOST_KEY], last[MOST_KEY + 1];
    int length;
    copy_value(found, 0, 2, MOST_KEY, first, &length);
    PQclear(found);
    Parameters parameters = {0};
    add_integer(&parameters, index);
    add_integer(&parameters, of);
    add_bytes(&parameters, first, length);
    add_bytes(&parameters, last, length + 1);
    prepare(connection, "top",
            "SELECT d.did, d.cid, d.id, d.rev, d.created, d.updated, d.body "
            "FROM keel.entries e JOIN keel.documents d ON d.store = e.store AND d.did = e.did "
            "WHERE e.store = 1 AND e.ix = $1 AND e.cid = $2 AND e.key >= $3 AND e.key < $4 ORDER BY e.key LIMIT 20",
            &parameters);
    double began = now();
    for (int turn = 0; turn < count; turn++) {
        first[length - 1] = (char)('0' + turn % 10);
        memcpy(last, first, length);
        last[length] = (char)0xFF;
        found = call(connection, "top", &parameters);
        if (PQntuples(found) != 20) fail("top", "the result is too short");
        PQclear(found);
    }
    double took = now() - began;
    PQfinish(connection);
    return took / count;
}

static double measured_feed(int count) {
    PGconn *connection = connect_to_server();
    Parameters parameters = {0};
    add_integer(&parameters, 0);
    prepare(connection, "feed",
            "SELECT c.seq, c.cid, c.id, c.rev, c.removed, d.did, d.rev, d.created, d.updated, d.body "
            "FROM (SELECT * FROM keel.changes WHERE store = 1 AND seq > $1 ORDER BY seq LIMIT 500) c "
            "LEFT JOIN keel.documents d ON d.store = 1 AND d.cid = c.cid AND d.id = c.id ORDER BY c.seq",
            &parameters);
    int done = 0, size = 500;
    double began = now();
    while (done < count && size == 500) {
        PGresult *page = call(connection, "feed", &parameters);
        size = PQntuples(page);
        done += size;
        parameters.count = 0;
        add_integer(&parameters, size ? integer(page, size - 1, 0) : 0);
        PQclear(page);
    }
    double took = now() - began;
    PQfinish(connection);
    if (done == 0) fail("feed", "there are no changes");
    return took / done;
}

/* Announcements */

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static struct {
    PGconn *connection;
    pthread_barrier_t heard;
    double time;
    int count;
} listener;

static void *listen_for_changes(void *argument) {
    (void)argument;
    PGconn *connection = listener.connection;
    int64_t last = integer(rows(connection, "SELECT coalesce(max(seq), 0) FROM peer.changes"), 0, 0);
    Parameters parameters = {0};
    add_integer(&parameters, last);
    prepare(connection, "page",
            "SELECT c.seq, c.id, d.body FROM peer.changes c JOIN peer.documents d "
            "ON d.store = 1 AND d.cid = c.cid AND d.id = c.id WHERE c.store = 1 AND c.seq > $1 ORDER BY c.seq LIMIT 500",
            &parameters);
    run(connection, "LISTEN peer");
    pthread_barrier_wait(&listener.heard);
    for (int done = 0; done < listener.count;) {
        PGnotify *announcement;
        while (!(announcement = PQnotifies(connection))) {
            struct pollfd descriptor = {.fd = PQsocket(connection), .events = POLLIN};
            if (poll(&descriptor, 1, 10000) != 1) fail("listen", "no announcement came");
            if (!PQconsumeInput(connection)) fail("listen", PQerrorMessage(connection));
        }
        PQfreemem(announcement);
        PGresult *page = call(connection, "page", &parameters);
        int size = PQntuples(page);
        if (size) {
            last = integer(page, size - 1, 0);
            parameters.count = 0;
            add_integer(&parameters, last);
            done += size;
            listener.time = now();
            pthread_barrier_wait(&listener.heard);
        }
        PQclear(page);
    }
    return NULL;
}

static double measured_hearing(int count, double quantile) {
    Worker worker = {.connection = connect_to_server(), .variant = "notify", .connections = 1, .state = wall_clock()};
    prepare_set(&worker);
    listener.connection = connect_to_server();
    listener.count = count;
    pthread_barrier_init(&listener.heard, NULL, 2);
    pthread_t thread;
    if (pthread_create(&thread, NULL, listen_for_changes, NULL)) fail("thread", "none could be started");
    pthread_barrier_wait(&listener.heard);
    double *times = calloc(count, sizeof *times);
    for (int turn = 0; turn < count; turn++) {
        /* A single change: nothing else is under way. */
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        double began = now();
        step_set(&worker, turn);
        pthread_barrier_wait(&listener.heard);
        times[turn] = listener.time - began;
    }
    pthread_join(thread, NULL);
    qsort(times, count, sizeof *times, compare);
    return times[(int)(quantile * (count - 1))];
}

/* The command line */

static void create(void) {
    PGconn *connection = connect_to_server();
    run(connection, "BEGIN; CREATE SCHEMA peer; CREATE SEQUENCE peer.sequence");
    const char *tables[] = {"stores", "documents", "entries", "changes", "groups"};
    for (int table = 0; table < 5; table++) {
        char sql[512];
        snprintf(sql, sizeof sql, "CREATE TABLE peer.%s (LIKE keel.%s INCLUDING ALL)", tables[table], tables[table]);
        run(connection, sql);
        if (table < 3) {
            snprintf(sql, sizeof sql, "INSERT INTO peer.%s %s SELECT * FROM keel.%s", tables[table],
                     table ? "" : "OVERRIDING SYSTEM VALUE", tables[table]);
            run(connection, sql);
        }
    }
    run(connection, "ALTER TABLE peer.documents SET (fillfactor = 85)");
    run(connection,
        "ALTER TABLE peer.stores SET (fillfactor = 10, autovacuum_vacuum_threshold = 50, "
        "autovacuum_vacuum_scale_factor = 0)");
    run(connection, "COMMIT");
    PQfinish(connection);
}

static int number(const char *text) {
    int value = atoi(text);
    if (value < 1) fail("arguments", text);
    return value;
}

int main(int count, char **arguments) {
    if (count < 3) fail("arguments", "a URL and a command are needed");
    url = arguments[1];
    const char *command = arguments[2];
    char **rest = arguments + 3;
    int left = count - 3;
    double figure = 0;
    if (!strcmp(command, "sql")) {
        PGconn *connection = connect_to_server();
        for (int place = 0; place < left; place++) run(connection, rest[place]);
        PQfinish(connection);
    } else if (!strcmp(command, "create")) {
        create();
    } else if (!strcmp(command, "set") && left == 3) {
        load("peer", !strcmp(rest[2], "indexed"), 1000000);
        figure = measured(number(rest[0]), number(rest[1]), rest[2], prepare_set, step_set);
    } else if (!strcmp(command, "insert") && left == 2) {
        load("peer", 0, 1000);
        PGconn *connection = connect_to_server();
        first_number = integer(rows(connection, "SELECT max(did) + 1 FROM peer.documents"), 0, 0);
        PQfinish(connection);
        figure = measured(number(rest[0]), number(rest[1]), "plain", prepare_set, step_insert);
    } else if (!strcmp(command, "trips") && left == 1) {
        load("peer", 0, 1000000);
        figure = measured_trips(number(rest[0]));
    } else if (!strcmp(command, "groups") && left == 2) {
        load("peer", 0, 1000000);
        figure = measured_groups(number(rest[0]), number(rest[1]));
    } else if (!strcmp(command, "get") && left == 2) {
        load("keel", 0, 100000);
        figure = measured(number(rest[0]), number(rest[1]), "plain", prepare_get, step_get);
    } else if (!strcmp(command, "top") && left == 1) {
        figure = measured_top(number(rest[0]));
    } else if (!strcmp(command, "feed") && left == 1) {
        figure = measured_feed(number(rest[0]));
    } else if (!strcmp(command, "hear") && left == 2) {
        load("peer", 0, 1000000);
        figure = measured_hearing(number(rest[0]), atof(rest[1]));
    } else {
        fail("arguments", "there is no such command");
    }
    printf("%.3f\n", figure);
    return 0;
}
