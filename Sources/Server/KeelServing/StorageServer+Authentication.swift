import HTTPTypes
import KeelHTTP
import KeelStorage
internal import KeelStorageAdapting

/// The principals of requests.
extension StorageServer {
    /// Returns the principal of a request; nil for an anonymous caller.
    ///
    /// - Throws: The failure of a request that is refused.
    func principal(of head: HTTPRequest) async throws(ServingFailure) -> StoragePrincipal? {
        guard let authenticate = configuration.authenticate else { return nil }
        // The closure may ask the store, and then not on behalf of a client in the same process.
        let result = await StorageContext().bind {
            () async -> Result<StoragePrincipal?, StorageError> in
            do throws(StorageError) {
                return .success(try await authenticate(head))
            } catch {
                return .failure(error)
            }
        }
        do throws(StorageError) {
            return try result.get()
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
    /// Whether the body is known in full, so that reading it reads nothing from the store.
    fileprivate var isInMemory: Bool {
        body.collected != nil || head.headerFields[.contentLength] != nil
    }
}
