import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelServing

/// The reply to a call over gRPC.
struct GRPCAnswer {
    let head: HTTPResponse
    let messages: [FirestoreJSON]
    let trailers: HTTPFields

    /// The number of the status.
    var status: Int? { trailers[.grpcStatus].flatMap { Int($0) } }
    var message: String? { trailers[.grpcMessage] }

    /// Reads a reply to its end.
    init(_ reply: HTTPReply, of type: String?) async throws {
        head = reply.head
        var frames = GRPCFrames(most: 64 << 20)
        frames.append(try await reply.body.collect(upTo: 64 << 20))
        var messages: [FirestoreJSON] = []
        while let message = try frames.next() {
            messages.append(
                try type.map { try FirestoreProtobuf.json(message, of: $0) } ?? .object([])
            )
        }
        #expect(frames.isEmpty)
        self.messages = messages
        trailers = try #require(reply.body.trailers)
    }
}

extension Served {
    func call(
        _ method: GRPCMethod,
        _ message: FirestoreJSON,
        _ fields: HTTPFields = [:]
    ) async throws -> GRPCAnswer {
        let bytes = try FirestoreProtobuf.bytes(message, of: method.requestType)
        return try await call(
            method.rawValue,
            StorageServer.frame(bytes),
            fields,
            of: method.responseType
        )
    }

    /// Calls a method with the bytes of a body.
    func call(
        _ name: String,
        _ body: [UInt8],
        _ fields: HTTPFields = [:],
        of type: String? = nil
    ) async throws -> GRPCAnswer {
        let reply = await server.respond(to: Self.call(name, HTTPBody(body), fields))
        return try await GRPCAnswer(reply, of: type)
    }

    static func call(_ name: String, _ body: HTTPBody, _ fields: HTTPFields = [:]) -> HTTPCall {
        var fields = fields
        if fields[.contentType] == nil { fields[.contentType] = "application/grpc" }
        let head = HTTPRequest("http://127.0.0.1:8080/\(GRPCMethod.service)/\(name)", .post, fields)
        return HTTPCall(head, body: body)
    }
}
