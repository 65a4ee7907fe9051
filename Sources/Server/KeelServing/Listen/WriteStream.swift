internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore

/// Serves a stream of Firestore's Write method, over any carrier.
///
/// Clients send batches without waiting for replies. Batches are committed one after another. One that fails ends the
/// stream, and those after it must not take effect, because clients send them again on another stream.
///
/// The SDKs drop a user's write for some statuses, and send it again after the others. Only a batch that can never
/// succeed receives one of the first kind; see ``failure(_:)`` and ``failure(ofStore:)``.
struct WriteStream {
    let adapter: any StorageAdapter
    let configuration: StorageServer.Configuration
    /// Admits one commit at a time, for which the end of the stream waits.
    let commits = TaskQueue()
    private let reserved = ReservedNames(allowsOwn: false)

    init(adapter: any StorageAdapter, configuration: StorageServer.Configuration) {
        self.adapter = adapter
        self.configuration = configuration
    }

    /// Serves a client's batches until they end, the task is canceled, or a batch fails.
    ///
    /// - Parameters:
    ///   - database: The database; nil if the first request names it.
    ///   - requests: The messages of the client, each a `WriteRequest`.
    ///   - send: Sends a `WriteResponse`; its errors end the stream.
    /// - Returns: The status for the client; nil if the client has ended the stream, or is gone.
    func run<Requests: AsyncSequence>(
        in database: String?,
        _ requests: Requests,
        send: (FirestoreJSON) async throws -> Void
    ) async -> StreamFailure? where Requests.Element == FirestoreJSON {
        let id = configuration.makeID()
        var coding: (decoding: FirestoreDecoding, encoding: FirestoreEncoding)?
        var count = 0
        do {
            for try await request in requests {
                let token = FirestoreJSON.string(Base64.encode(Array("\(id).\(count)".utf8)))
                count += 1
                guard let (decoding, encoding) = coding else {
                    let name = try Self.database(of: request, or: database)
                    coding = (FirestoreDecoding(database: name), FirestoreEncoding(database: name))
                    try await send(["streamId": .string(id), "streamToken": token])
                    continue
                }
                guard try request.text("streamToken")?.isEmpty == false else {
                    throw FirestoreDecoding.flaw("“streamToken” is missing")
                }
                let receipt = try await commit(try decoding.batch(request))
                try await send(
                    .object(
                        (encoding.receipt(receipt).members ?? []) + [.init("streamToken", token)]
                    )
                )
            }
        } catch let error as StorageError {
            return Self.failure(error)
        } catch {
            // Of other errors, the client is gone.
            return error as? StreamFailure
        }
        return nil
    }

    private static func database(
        of request: FirestoreJSON,
        or known: String?
    ) throws(StorageError) -> String {
        guard try request.list("writes").isEmpty else {
            throw FirestoreDecoding.flaw("the first request of a stream has no writes")
        }
        guard try request.text("streamId")?.isEmpty ?? true else {
            throw FirestoreDecoding.flaw("streams are not resumed; send no “streamId”")
        }
        guard let name = try request.text("database") ?? known else {
            throw FirestoreDecoding.flaw("the first request of a stream names the “database”")
        }
        return name
    }

    private func commit(_ batch: WriteBatch) async throws -> CommitReceipt {
        try WriteRules.check(batch, reserved, for: adapter.capabilities)
        guard await commits.enter() else { throw CancellationError() }
        defer { commits.leave() }
        let limit = configuration.requestTimeout
        let context = StorageContext.current.limited(to: limit, on: configuration.clock)
        let results: [Result<CommitReceipt, StorageError>]
        do throws(StorageError) {
            results = try await context.run { () async throws(StorageError) in
                try await adapter.commit([batch])
            }
        } catch {
            throw Self.failure(ofStore: error)
        }
        guard let result = results.first else {
            throw StorageError(.unknown, "the store did not answer", effect: .unknown)
        }
        return try result.get()
    }

    /// Returns the status of a batch that breaks a rule, or that the store has refused.
    ///
    /// If the store is damaged, read-only, of a newer version, or does not let the server in, the client keeps the
    /// write and tries again. For most of the usual statuses of these errors, the SDKs would drop the write.
    ///
    /// If access rules refuse the caller, the client drops the write.
    ///
    /// Source: firebase/firebase-js-sdk, packages/firestore/src/remote/rpc_error.ts, `isPermanentWriteError`.
    static func failure(_ error: StorageError) -> StreamFailure {
        switch error.code {
        case .documentNotFound, .alreadyExists, .conflict, .invalidArgument, .encodingFailed,
            .unsupported:
            StreamFailure(error)
        default: failure(ofStore: error)
        }
    }

    /// Returns the status of a batch that the store has not judged, because the commit failed as a whole.
    ///
    /// Codes that usually concern the batch then concern the store: PostgreSQL's `.invalidArgument` means that its
    /// database is gone, and its `.conflict` that it has ended a deadlock.
    static func failure(ofStore error: StorageError) -> StreamFailure {
        switch error.code {
        case .tooLarge, .diskFull, .timeout, .cancelled, .unknown: StreamFailure(error)
        case .permissionDenied where error.refusesCaller: StreamFailure(error)
        default: StreamFailure(.unavailable, error.message)
        }
    }
}
