import HTTPTypes
import KeelHTTP
import KeelStorageFirestore
import Testing

@testable import KeelServing

/// A stream of a client: what it sends while the reply goes on.
final class GRPCStreamClient: Sendable {
    private let method: GRPCMethod
    private let requests: AsyncStream<[UInt8]>.Continuation
    private let reply: HTTPReply
    private let frames: GRPCMessageReader

    init(_ method: GRPCMethod, of served: Served, _ fields: HTTPFields = [:]) async {
        let (pieces, requests) = AsyncStream.makeStream(of: [UInt8].self)
        let body = HTTPBody(length: nil, isReplayable: false) {
            HTTPByteStream { await pieces.first { _ in true }.map { $0[...] } }
        }
        self.method = method
        self.requests = requests
        let reply = await served.server.respond(to: Served.call(method.rawValue, body, fields))
        self.reply = reply
        frames = GRPCMessageReader(
            HTTPBody(length: nil, isReplayable: false) { reply.body },
            most: 64 << 20
        )
    }

    func send(_ message: FirestoreJSON) throws {
        let bytes = try FirestoreProtobuf.bytes(message, of: method.requestType)
        requests.yield(StorageServer.frame(bytes))
    }

    func send(bytes: [UInt8]) { requests.yield(bytes) }

    func finish() { requests.finish() }

    /// Returns the next message; nil at the end.
    func next() async throws -> FirestoreJSON? {
        let type = try #require(method.responseType)
        return try await frames.next().map { try FirestoreProtobuf.json($0, of: type) }
    }

    /// Reads to the end and returns the status.
    func status() async throws -> Int? {
        while try await frames.next() != nil {}
        return reply.body.trailers?[.grpcStatus].flatMap { Int($0) }
    }

    var message: String? { reply.body.trailers?[.grpcMessage] }
}

extension FirestoreJSON {
    /// A message of a Listen stream that adds a target for a collection.
    static func addTarget(_ number: Int64, _ collection: String) -> Self {
        [
            "database": .string(Served.database),
            "addTarget": [
                "targetId": .integer(number),
                "query": [
                    "parent": .string("\(Served.database)/documents"),
                    "structuredQuery": ["from": [["collectionId": .string(collection)]]],
                ],
            ],
        ]
    }
}
