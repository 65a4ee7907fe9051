internal import HTTPTypes
internal import KeelCore
internal import KeelHTTP
internal import KeelStorageAdapting

struct FeedConnection: Sendable {
    struct Page: Sendable {
        var page: ChangePage
        var epoch: String
    }

    let transport: any HTTPTransport
    let configuration: SyncFeed.Configuration
    let headers: @Sendable () async throws(StorageError) -> HTTPFields

    var decoding: FeedDecoding { FeedDecoding(database: configuration.database) }

    /// Requests a page; the server replies once there is a change or the wait is over.
    func page(
        _ request: ChangeRequest,
        wait: Int64 = 0
    ) async throws(StorageError) -> Page {
        var query = FeedQuery(
            scope: request.scope,
            clients: request.clients,
            database: configuration.database
        )
        if let after = request.after { query.add("cursor", Base64.encodeForURL(after.bytes)) }
        query.add("limit", "\(min(request.limit, 1_000))")
        if let reader = request.reader, Self.takesName(of: reader) {
            query.add("reader", reader.name)
            let lifetime = min(max(.zero, reader.lifetime), .seconds(30 * 86_400))
            query.add("lifetime", "\(lifetime.components.seconds)")
        }
        if wait > 0 { query.add("wait", "\(wait)") }
        let timeouts = HTTPTimeouts(
            firstByte: .seconds(wait) + configuration.stallTimeout,
            idle: configuration.stallTimeout
        )
        let reply = try await send("changes", query, accept: "application/json", timeouts)
        guard reply.head.status == .ok else { throw await Self.error(reply) }
        var result = try decoding.page(try await Self.json(reply, upTo: 256 << 20))
        let filter = ScopeFilter(request.scope)
        result.page.changes = result.page.changes.compactMap(filter.told)
        return result
    }

    /// Checks that a server can retain changes for a reader.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` for a name that the server refuses.
    static func check(_ reader: ChangeReader) throws(StorageError) {
        guard reader.lifetime > .zero, !takesName(of: reader) else { return }
        throw StorageError(
            .invalidArgument,
            "the name of a reader has \(reader.name.utf8.count) bytes; the server takes names of 1 to 100 bytes"
        )
    }

    private static func takesName(of reader: ChangeReader) -> Bool {
        (1...100).contains(reader.name.utf8.count)
    }

    func stream(
        after cursor: ChangeCursor,
        scope: ChangeScope,
        clients: Set<String>
    ) async throws(StorageError) -> HTTPReply {
        var query = FeedQuery(scope: scope, clients: clients, database: configuration.database)
        query.add("cursor", Base64.encodeForURL(cursor.bytes))
        let timeouts = HTTPTimeouts(
            firstByte: configuration.stallTimeout,
            idle: configuration.stallTimeout
        )
        return try await send("events", query, accept: "text/event-stream", timeouts)
    }

    private func send(
        _ kind: String,
        _ query: FeedQuery,
        accept: String,
        _ timeouts: HTTPTimeouts
    ) async throws(StorageError) -> HTTPReply {
        var fields = try await headers()
        fields[.accept] = accept
        let scope = PercentEncoding.encode(configuration.scope)
        let head = HTTPRequest(
            method: .get,
            scheme: configuration.scheme,
            authority: configuration.authority,
            path: "\(configuration.pathPrefix)/sync/\(scope)/\(kind)?\(query.text)",
            headerFields: fields
        )
        do throws(TransportError) {
            return try await transport.send(HTTPCall(head, timeouts: timeouts))
        } catch {
            throw StorageError(transport: error, isWrite: false)
        }
    }

    // MARK: Replies

    private static func json(
        _ reply: HTTPReply,
        upTo limit: Int
    ) async throws(StorageError) -> FirestoreJSON {
        let bytes: [UInt8]
        do throws(TransportError) {
            bytes = try await reply.body.collect(upTo: limit)
        } catch {
            throw StorageError(transport: error, isWrite: false)
        }
        do throws(FirestoreJSONError) {
            return try FirestoreJSON(parsing: bytes)
        } catch {
            throw .invalidReply("its page of changes is not JSON: \(error)")
        }
    }

    static func error(_ reply: HTTPReply) async -> StorageError {
        let bytes = (try? await reply.body.collectPrefix(1 << 16)) ?? []
        let error = FirestoreDecoding.error(
            httpStatus: reply.head.status.code,
            try? FirestoreJSON(parsing: bytes),
            isWrite: false
        )
        guard [404, 405, 501].contains(reply.head.status.code) else { return error.ofServer }
        return StorageError(.unsupported, "the server does not support changes: \(error.message)")
    }
}
