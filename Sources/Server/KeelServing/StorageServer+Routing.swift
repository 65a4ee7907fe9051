import HTTPTypes
import KeelHTTP
import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore
internal import Synchronization

extension StorageServer {
    func answer(_ call: HTTPCall) async throws(ServingFailure) -> HTTPReply {
        let method = call.head.method
        let target = try RequestTarget(call.head.path ?? "/", method: method)
        guard let route = ServingRoute(target) else { throw .noSuchPath }
        guard method != .options else { return .options(route.methods, for: call.head) }
        guard route.methods.contains(method) || method == .head && route.methods.contains(.get)
        else { throw .notAllowed(method, allowed: route.methods) }
        let principal: StoragePrincipal?
        switch route {
        // Sessions of a WebChannel have a principal of their own.
        case .health, .webChannel: principal = nil
        default: principal = try await self.principal(of: call.head)
        }
        return try await serving(as: principal) { () async throws(ServingFailure) in
            try await self.answer(call, target, route)
        }
    }

    private func answer(
        _ call: HTTPCall,
        _ target: RequestTarget,
        _ route: ServingRoute
    ) async throws(ServingFailure) -> HTTPReply {
        let method = call.head.method
        switch route {
        case .health: return try await health()
        case .metrics:
            guard let metrics = configuration.metrics else { throw .noSuchPath }
            let type = "text/plain; version=0.0.4; charset=utf-8"
            return .bytes(.ok, type: type, Array(await metrics().utf8))
        case .schema:
            let exchange = try await exchange(call, target, in: "projects/keel/databases/(default)")
            return try await reply(to: exchange) { () async throws(StorageError) in
                .whole(try await exchange.schema(isDeclared: method == .post))
            }
        case .logs:
            guard let collection = configuration.ingest?.logs else { throw .noSuchPath }
            return try await ingest(call).logs(into: collection)
        case .analytics:
            guard let collection = configuration.ingest?.analytics else { throw .noSuchPath }
            return try await ingest(call).analytics(into: collection)
        case .sync(let segments):
            let server = try target.items["database"].map { name throws(ServingFailure) in
                try self.server(of: name)
            }
            guard segments.count == 2, let changes = (server ?? self).changes else {
                throw .noSuchPath
            }
            switch segments[1] {
            case "changes": return await changes.changes(call, scope: segments[0])
            case "events" where method != .head:
                return await changes.events(call, scope: segments[0])
            default: throw .noSuchPath
            }
        case .everything(let database):
            return try await server(of: database).removeEverything(within: try context(of: call))
        case .webChannel(let stream): return try await webChannel(call, stream, target.items)
        case .firestore(let route, let database):
            let server = try server(of: database)
            let exchange = try await server.exchange(call, target, in: database)
            return try await reply(to: exchange) { () async throws(StorageError) in
                try await exchange.answer(route, method)
            }
        }
    }

    /// Returns the request context with the time limit of the server, or a shorter one of the client.
    private func context(of call: HTTPCall) throws(ServingFailure) -> StorageContext {
        var limit = configuration.requestTimeout
        if let text = call.head.headerFields[.serverTimeout] {
            guard let seconds = Double(text), seconds >= 0, seconds.isFinite else {
                throw .invalid("“X-Server-Timeout” must be a number of seconds, such as 2.5")
            }
            // Ignores a timeout of more than about 30 years, which may exceed the range of `Duration`.
            if seconds < 1e9 { limit = min(limit, .seconds(seconds)) }
        }
        return StorageContext.current.limited(to: limit, on: configuration.clock)
    }

    /// Returns a success if the server takes requests and the store can be read.
    private func health() async throws(ServingFailure) -> HTTPReply {
        guard phase.withLock({ $0 }) == .serving else { throw .shuttingDown }
        do throws(StorageError) {
            _ = try await adapter.read(ReadRequest(.documents(["health/health"])))
        } catch {
            let unavailable = StorageError(
                .unavailable,
                "the store cannot be read: \(error.code.name)"
            )
            throw ServingFailure(unavailable)
        }
        return .json(Array(#"{"status":"ok"}"#.utf8))
    }

    /// Deletes all documents but Keel's own, as far as the time allows.
    private func removeEverything(
        within context: StorageContext
    ) async throws(ServingFailure) -> HTTPReply {
        guard configuration.allowsClearing else { throw .noSuchPath }
        let query = DocumentQuery.everything().with { query in
            query.limit = .first(500)
            query.projection = []
        }
        do throws(StorageError) {
            try await context.run { [adapter] () async throws(StorageError) -> Void in
                while case .found(let found) = try await adapter.read(ReadRequest(.query(query)))
                    .payload,
                    !found.isEmpty
                {
                    let batch = WriteBatch(found.map { DocumentWrite($0.path, .delete) })
                    for result in try await adapter.commit([batch]) { _ = try result.get() }
                }
            }
        } catch {
            throw ServingFailure(error)
        }
        return .json(Array("{}".utf8))
    }

    private func ingest(_ call: HTTPCall) -> IngestExchange {
        IngestExchange(adapter: adapter, configuration: configuration, call: call)
    }

    private func exchange(
        _ call: HTTPCall,
        _ target: RequestTarget,
        in database: String
    ) async throws(ServingFailure) -> FirestoreExchange {
        let body = try await call.json(
            upTo: configuration.maximumBodyBytes,
            levels: configuration.maximumJSONLevels,
            values: configuration.maximumJSONValues
        )
        return FirestoreExchange(
            adapter: adapter,
            context: try context(of: call),
            transactions: transactions,
            caller: CallerID(StorageContext.current.principal, on: call.options.connection),
            configuration: configuration,
            database: database,
            isExtended: call.head.headerFields[.keelProtocol] == "1",
            items: target.items,
            body: body
        )
    }

    private func reply(
        to exchange: FirestoreExchange,
        _ answer: @escaping @Sendable () async throws(StorageError) -> ReplyBody
    ) async throws(ServingFailure) -> HTTPReply {
        var reply: HTTPReply
        do throws(StorageError) {
            switch try await exchange.context.run(answer) {
            case .whole(let bytes): reply = .json(bytes)
            case .pieces(let pieces): reply = .json(pieces)
            case .incomplete(let bytes, let error):
                let status = FirestoreStatus(error).httpStatus
                reply = .json(bytes, HTTPResponse.Status(code: status))
            }
        } catch {
            reply = ServingFailure(error).reply
        }
        if exchange.decoding.isExtended { reply.head.headerFields[.keelProtocol] = "1" }
        return reply
    }
}

extension HTTPField.Name {
    /// `X-Server-Timeout`, in seconds, as in Google's APIs.
    static let serverTimeout = known("X-Server-Timeout")

    /// The version of Keel's extensions of Firestore's protocol.
    static let keelProtocol = known("Keel-Protocol")
}
