internal import HTTPTypes
package import KeelHTTP
package import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore
internal import Synchronization

/// Serves the changes of a store: the reading half of Keel Sync.
///
/// `Documentation/Protocols/KeelSync.md` is the specification. The service has a single scope, `all`, and omits the
/// server's own records.
package final class ChangeService: Sendable {
    private let hub: ChangeHub

    /// Creates a service for a store with a change log.
    package init(adapter: any StorageAdapter, configuration: Configuration = Configuration()) {
        hub = ChangeHub(adapter: adapter, configuration: configuration)
    }

    /// The number of open streams and waiting page requests.
    package var listenerCount: Int { hub.count }

    /// The size of the backlog of all streams, in bytes.
    package var waitingBytes: Int { hub.waiting.value }

    /// Ends one in `count` of the streams and waits, rounded up.
    package func end(oneOf count: Int) { hub.end(oneOf: count) }

    /// The number of scopes with queries whose results are known.
    package var narrowCount: Int { hub.state.withLock { $0.knownCount } }

    /// Ends all streams and waits, and refuses new ones.
    package func shutDown() { hub.shutDown() }

    // MARK: Stream

    /// Answers `GET /sync/{scope}/events`; returns the events, or an error as JSON.
    package func events(_ call: HTTPCall, scope: String) async -> HTTPReply {
        do throws(ChangeFailure) {
            var query = try Self.query(of: call, scope: scope)
            let stream = try await stream(for: &query, call.head.headerFields)
            var head = HTTPResponse(status: .ok)
            head.headerFields[.contentType] = "text/event-stream"
            head.headerFields[.cacheControl] = "no-store"
            return HTTPReply(
                head: head,
                body: HTTPByteStream { () async throws(TransportError) in try await stream.next() }
            )
        } catch {
            return error.reply
        }
    }

    private func stream(
        for query: inout ChangeQuery,
        _ fields: HTTPFields
    ) async throws(ChangeFailure) -> ChangeStream {
        do throws(StorageError) {
            try query.resume(after: fields)
            _ = try await hub.epoch.value()
        } catch {
            throw ChangeFailure(error)
        }
        let stream: ChangeStream
        do throws(ChangeHub.Refusal) {
            stream = try ChangeStream(hub: hub, query: query)
        } catch {
            throw ChangeFailure(error)
        }
        do throws(StorageError) { try await stream.begin() } catch { throw ChangeFailure(error) }
        return stream
    }

    private static func query(
        of call: HTTPCall,
        scope: String
    ) throws(ChangeFailure) -> ChangeQuery {
        guard scope == "all" else { throw .noScope(scope) }
        do throws(StorageError) {
            var query = try ChangeQuery(target: call.head.path ?? "")
            query.caller = CallerID(
                StorageContext.current.principal,
                on: call.options.connection
            )
            return query
        } catch {
            throw ChangeFailure(error)
        }
    }

    // MARK: Pages

    /// Answers `GET /sync/{scope}/changes`; returns the page, or an error, as JSON.
    package func changes(_ call: HTTPCall, scope: String) async -> HTTPReply {
        do throws(ChangeFailure) {
            let query = try Self.query(of: call, scope: scope)
            let json = try await page(for: query)
            var reply = HTTPReply.bytes(.ok, type: "application/json", json.bytes)
            reply.head.headerFields[.cacheControl] = "no-store"
            return reply
        } catch {
            return error.reply
        }
    }

    private func page(for query: ChangeQuery) async throws(ChangeFailure) -> FirestoreJSON {
        do throws(StorageError) {
            let epoch = try await hub.epoch.value()
            let page = try await hub.page(for: query)
            return ChangeMessages.page(page, database: query.database, epoch: epoch)
        } catch {
            throw ChangeFailure(error)
        }
    }
}

extension ChangeService {
    /// The limits and dependencies of a change service.
    package struct Configuration: Sendable {
        /// The maximum number of streams and waiting page requests; further streams are refused with status 429, and
        /// further requests do not wait.
        package var maximumListeners = 10_000
        /// The maximum number of those of one caller.
        package var maximumListenersPerCaller = Int.max
        /// The maximum time between two lines of a stream that has caught up.
        package var heartbeat = Duration.seconds(15)
        /// The maximum backlog of a stream, in bytes, unless a single page is larger; then the stream ends.
        package var mostBufferedBytes = 1 << 20
        /// The approximate maximum backlog of all streams together, in bytes, before the slowest are cut off.
        ///
        /// Events that streams share are counted once. Up to the same number of bytes may be in transmission to
        /// clients; above it, streams that are behind read small pages.
        package var maximumBacklogBytes = 256 << 20
        /// The maximum size of a page, in bytes of documents, unless a single document is larger.
        package var mostPageBytes = 8 << 20
        /// The maximum size of one read of a stream, in bytes of documents, unless a single document is larger.
        package var streamPageBytes = 1 << 20
        /// The maximum size of one read of a stream while too much is in transmission to clients.
        package var smallPageBytes = 16 << 10
        /// The maximum number of documents that a stream's queries find; with more, it receives every change in their
        /// collections.
        package var mostHeldDocuments = 10_000
        /// The maximum number of such documents of all streams together.
        package var maximumHeldDocuments = 1_000_000
        /// The clock of heartbeats, delays and waits.
        package var clock: any Clock<Duration> = ContinuousClock()
        /// Returns the epoch of a new store.
        package var makeEpoch: @Sendable () -> String = { WriteBatch.randomID() }

        /// Creates a configuration with default limits.
        package init() {}
    }
}
