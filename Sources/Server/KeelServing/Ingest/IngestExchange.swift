import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPCompression
import KeelStorage
import KeelStorageFirestore

/// A request that sends logs or analytics.
struct IngestExchange {
    let adapter: any StorageAdapter
    let configuration: StorageServer.Configuration
    let call: HTTPCall

    /// Answers `POST /v1/analytics/batch`.
    func analytics(into collection: CollectionPath) async throws(ServingFailure) -> HTTPReply {
        let json = try await json(of: try decompressed())
        let store = IngestStore(adapter: adapter, collection: collection)
        let answer = try await Self.serving { () async throws(StorageError) in
            try await AnalyticsBatch(json).keep(in: store, at: configuration.now())
        }
        return .json(answer.bytes)
    }

    /// Answers `POST /v1/logs`, in the format of the request.
    func logs(into collection: CollectionPath) async throws(ServingFailure) -> HTTPReply {
        let call = try decompressed()
        guard call.mediaType == Self.protobuf else {
            let json = try await json(of: call)
            let (rejected, reason) = try await keep(in: collection) { () throws(StorageError) in
                try LogExport(json, makeID: configuration.makeID)
            }
            let part: FirestoreJSON = .members([
                "rejectedLogRecords": .string("\(rejected)"),
                "errorMessage": reason.map { .string($0) },
            ])
            return .json(FirestoreJSON.members(["partialSuccess": rejected > 0 ? part : nil]).bytes)
        }
        let bytes = try await call.bytes(upTo: configuration.maximumBodyBytes)
        let (rejected, reason) = try await keep(in: collection) { () throws(StorageError) in
            try LogExport(
                protobuf: bytes,
                mostValues: configuration.maximumJSONValues,
                makeID: configuration.makeID
            )
        }
        var answer = ProtobufWriter()
        if rejected > 0 {
            answer.message(1) { part in
                part.varint(1, UInt64(rejected))
                part.string(2, reason ?? "")
            }
        }
        return .bytes(.ok, type: Self.protobuf, answer.bytes)
    }

    private static let protobuf = "application/x-protobuf"

    private func keep(
        in collection: CollectionPath,
        _ read: () throws(StorageError) -> LogExport
    ) async throws(ServingFailure) -> (rejected: Int, reason: String?) {
        let store = IngestStore(adapter: adapter, collection: collection)
        return try await Self.serving { () async throws(StorageError) in
            try await read().keep(in: store)
        }
    }

    private func json(of call: HTTPCall) async throws(ServingFailure) -> FirestoreJSON {
        try await call.json(
            upTo: configuration.maximumBodyBytes,
            levels: configuration.maximumJSONLevels,
            values: configuration.maximumJSONValues
        )
    }

    /// Returns the request with a decompressed body.
    private func decompressed() throws(ServingFailure) -> HTTPCall {
        guard let encoding = call.head.headerFields[.contentEncoding], let body = call.body else {
            return call
        }
        guard let decompressed = body.decompressed(from: encoding) else {
            throw ServingFailure(
                StorageError(.invalidArgument, "the content coding must be gzip or deflate"),
                as: .invalidArgument,
                httpStatus: 415
            )
        }
        var call = call
        call.body = decompressed
        return call
    }

    private static func serving<Value>(
        _ body: () async throws(StorageError) -> Value
    ) async throws(ServingFailure) -> Value {
        do throws(StorageError) {
            return try await body()
        } catch {
            guard error.code == .tooLarge else { throw ServingFailure(error) }
            throw ServingFailure(error, as: .invalidArgument, httpStatus: 413)
        }
    }
}
