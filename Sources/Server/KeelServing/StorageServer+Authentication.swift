import HTTPTypes
import KeelCore
import KeelHTTP
import KeelStorage
internal import KeelStorageAdapting

extension StorageServer {
    /// Returns the principal of a request; nil for an anonymous caller.
    ///
    /// - Throws: The failure of a request that is refused, or that could not be authenticated in time.
    func principal(of head: HTTPRequest) async throws(ServingFailure) -> StoragePrincipal? {
        guard let authenticate = configuration.authenticate else { return nil }
        let (results, result) = AsyncStream.makeStream(
            of: Result<StoragePrincipal?, StorageError>.self,
            bufferingPolicy: .bufferingOldest(1)
        )
        // In a task of its own, a closure that ignores its cancellation does not keep the request. It may ask the
        // store, and then not on behalf of a client in the same process.
        let work = StorageContext.withoutContext {
            Task { () async -> Void in
                do throws(StorageError) {
                    result.yield(.success(try await authenticate(head)))
                } catch {
                    result.yield(.failure(error))
                }
            }
        }
        defer { work.cancel() }
        let limit = configuration.authenticationTimeout
        let timer = DeadlineTimer.on(configuration.clock)
        let end = timer.watch(until: timer.now + limit) {
            let message = "the caller was not authenticated within \(limit); try again"
            result.yield(.failure(StorageError(.unavailable, message)))
        }
        defer { timer.end(end) }
        // Without a result, the request is canceled.
        let first: Result<StoragePrincipal?, StorageError> =
            await results.first { _ in true } ?? .failure(.cancellation)
        do throws(StorageError) {
            return try first.get()
        } catch {
            throw .unauthenticated(error)
        }
    }

    /// Answers a request in the context of its principal, with the reply's body.
    func serving(
        as principal: StoragePrincipal?,
        _ answer: () async throws(ServingFailure) -> HTTPReply
    ) async throws(ServingFailure) -> HTTPReply {
        // In the same process as its client, the server must not inherit the client's context.
        let context = StorageContext().of(principal)
        let result = await context.bind { () async -> Result<HTTPReply, ServingFailure> in
            do throws(ServingFailure) {
                return .success(try await answer())
            } catch {
                return .failure(error)
            }
        }
        var reply = try result.get()
        guard configuration.authenticate != nil, !reply.isInMemory else { return reply }
        reply.body = reply.body.mapReads { read async throws(TransportError) in
            let result = await context.bind {
                () async -> Result<ArraySlice<UInt8>?, TransportError> in
                do throws(TransportError) {
                    return .success(try await read())
                } catch {
                    return .failure(error)
                }
            }
            return try result.get()
        }
        return reply
    }
}

extension HTTPReply {
    /// Whether reading the body reads nothing from the store.
    fileprivate var isInMemory: Bool {
        body.collected != nil || head.headerFields[.contentLength] != nil
    }
}
