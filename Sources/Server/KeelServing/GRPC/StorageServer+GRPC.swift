import HTTPTypes
import KeelHTTP
import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

/// Firestore's protocol over gRPC.
extension StorageServer {
    static func isGRPC(_ head: HTTPRequest) -> Bool {
        guard head.method == .post, let type = head.headerFields[.contentType] else { return false }
        let name = type.prefix { $0 != ";" }
        return name == "application/grpc" || name == "application/grpc+proto"
    }

    func answerGRPC(_ call: HTTPCall) async throws(ServingFailure) -> HTTPReply {
        guard let method = GRPCMethod(path: call.head.path ?? "") else {
            throw ServingFailure(
                StorageError(.unsupported, "this server does not have this method")
            )
        }
        if method == .executePipeline {
            throw ServingFailure(
                StorageError(.unsupported, "pipelines are not available; use RunQuery")
            )
        }
        let principal = try await principal(of: call.head)
        return try await serving(as: principal) { () async throws(ServingFailure) in
            try await self.answer(call, as: method)
        }
    }

    private func answer(
        _ call: HTTPCall,
        as method: GRPCMethod
    ) async throws(ServingFailure) -> HTTPReply {
        let messages = GRPCMessageReader(call.body, most: configuration.maximumBodyBytes)
        let timeout = try Self.timeout(of: call.head)
        let caller = CallerID(StorageContext.current.principal, on: call.options.connection)
        if let stream = method.stream {
            return answer(method, stream, by: caller, messages, within: timeout)
        }
        let limit = min(timeout ?? configuration.requestTimeout, configuration.requestTimeout)
        let context = StorageContext.current.limited(to: limit, on: configuration.clock)
        let message = try await message(method, messages, context)
        let request: GRPCRequest
        do throws(StorageError) {
            request = try GRPCRequest(method, message)
        } catch {
            throw ServingFailure(error)
        }
        let server = try server(of: request.database)
        let body: ReplyBody
        do throws(StorageError) {
            let exchange = FirestoreExchange(
                adapter: server.adapter,
                context: context,
                transactions: server.transactions,
                caller: caller,
                configuration: configuration,
                database: request.database,
                isExtended: false,
                items: request.items,
                body: request.body
            )
            body = try await context.run { () async throws(StorageError) in
                try await exchange.answer(request.route, request.method)
            }
        } catch {
            throw ServingFailure(error)
        }
        return try await reply(body, to: method)
    }

    private static func timeout(of head: HTTPRequest) throws(ServingFailure) -> Duration? {
        guard let text = head.headerFields[.grpcTimeout] else { return nil }
        guard let timeout = GRPCStatus.timeout(text) else {
            throw .invalid("“grpc-timeout” is not up to eight digits and a unit, such as 500m")
        }
        return timeout
    }

    /// Reads the only message of a request.
    private func message(
        _ method: GRPCMethod,
        _ messages: GRPCMessageReader,
        _ context: StorageContext
    ) async throws(ServingFailure) -> FirestoreJSON {
        let read: Result<FirestoreJSON, ServingFailure>
        do throws(StorageError) {
            read = try await context.run {
                () async throws(StorageError) -> Result<FirestoreJSON, ServingFailure> in
                do throws(ServingFailure) {
                    guard let first = try await messages.next() else {
                        return .failure(.invalid("the request has no message"))
                    }
                    let message = try self.decoded(first, as: method)
                    guard try await messages.next() == nil else {
                        return .failure(.invalid("the request has more than one message"))
                    }
                    return .success(message)
                } catch {
                    guard !Task.isCancelled else { throw error.error }
                    return .failure(error)
                }
            }
        } catch {
            throw ServingFailure(error)
        }
        return try read.get()
    }

    func decoded(
        _ bytes: ArraySlice<UInt8>,
        as method: GRPCMethod
    ) throws(ServingFailure) -> FirestoreJSON {
        do throws(FirestoreProtobufError) {
            return try FirestoreProtobuf.json(
                bytes,
                of: method.requestType,
                mostValues: configuration.maximumJSONValues
            )
        } catch {
            throw .invalid("the message is malformed: \(error)")
        }
    }

    private func reply(
        _ body: ReplyBody,
        to method: GRPCMethod
    ) async throws(ServingFailure) -> HTTPReply {
        let pieces: HTTPByteStream
        switch body {
        case .whole(let bytes): pieces = .chunks([bytes])
        case .pieces(let stream): pieces = stream
        // The body of a list begins with the error.
        case .incomplete(let bytes, _) where method.hasList: pieces = .chunks([bytes])
        case .incomplete(_, let error): throw ServingFailure(error)
        }
        guard let type = method.responseType else { return .gRPC(Self.frame([]), .ok) }
        guard !method.hasList else {
            let results = GRPCResults(pieces, of: type)
            return .gRPC(
                HTTPByteStream(trailers: { results.trailers }) { () async throws(TransportError) in
                    try await results.next()
                }
            )
        }
        let bytes: [UInt8]
        do throws(TransportError) {
            bytes = try await pieces.collect(upTo: .max)
        } catch {
            let cause = error.cause as? StorageError
            throw ServingFailure(cause ?? StorageError(.unknown, "the response ended early"))
        }
        let json = try GRPCResults.parsed(bytes)
        if json["error"] != nil {
            throw ServingFailure(FirestoreDecoding.error(httpStatus: 500, json, isWrite: false))
        }
        return .gRPC(Self.frame(try GRPCResults.message(json, of: type)), .ok)
    }

    static func frame(_ message: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(message.count + 5)
        GRPCFrames.append(message, to: &bytes)
        return bytes
    }
}
