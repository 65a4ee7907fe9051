import HTTPTypes
import KeelHTTP
import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore
import Synchronization

/// Firestore's streams over WebChannel, by which web pages listen and write.
extension StorageServer {
    /// Answers a request of a WebChannel: one that opens a session, sends messages, or waits for them.
    func webChannel(
        _ call: HTTPCall,
        _ stream: FirestoreRoute.Call,
        _ items: RequestItems
    ) async throws(ServingFailure) -> HTTPReply {
        guard items["VER"] == "8" else {
            throw .invalid("“VER” must be 8, the version of WebChannel")
        }
        guard let id = items["SID"] else {
            guard call.head.method == .post else { throw .invalid("“SID” is missing") }
            return try await open(call, stream, items)
        }
        // Clients open a new session after this status.
        guard let session = channels[id] else { return .text(.badRequest, "Unknown SID\n") }
        let acknowledged = items["AID"].flatMap { Int($0) } ?? 0
        guard call.head.method == .post else {
            // Such a client cannot read a response before its end.
            let isBuffered = items["CI"] == "1"
            var reply = HTTPReply.webChannel([])
            reply.head.headerFields[.contentLength] = nil
            reply.body = session.messages(after: acknowledged, isBuffered: isBuffered)
            return reply
        }
        guard items["TYPE"] != "terminate" else {
            session.terminate()
            return .webChannel([])
        }
        let (messages, first) = try await messages(of: call)
        guard let status = session.take(messages, from: first, acknowledging: acknowledged) else {
            throw .invalid("too many messages of the session are missing, or wait for its stream")
        }
        channels.makeRoom(upTo: configuration.maximumBacklogBytes)
        return .webChannel(status)
    }

    private func open(
        _ call: HTTPCall,
        _ stream: FirestoreRoute.Call,
        _ items: RequestItems
    ) async throws(ServingFailure) -> HTTPReply {
        guard let database = items["database"] else { throw .invalid("“database” is missing") }
        let server = try server(of: database)
        let (messages, first) = try await messages(of: call)
        guard channels.count < configuration.maximumListeners else {
            let message = "the server has \(configuration.maximumListeners) streams already"
            throw ServingFailure(
                StorageError(.unavailable, message),
                as: .resourceExhausted
            )
        }
        let name = configuration.serverName
        let session = WebChannelSession(
            id: (name.isEmpty ? "" : name + "-") + configuration.makeID(),
            in: channels.held
        )
        channels[session.id] = session
        _ = session.take(messages, from: first, acknowledging: 0)
        StorageContext.withoutContext {
            _ = Task {
                await session.run(stream, in: database, of: server, among: channels)
                channels[session.id] = nil
            }
        }
        let seconds = WebChannelSession.heartbeat.components.seconds
        let greeting = #"[[0,["c","\#(session.id)","",8,12,\#(seconds * 1_000)]]]"#
        return .webChannel(WebChannelState.framed(Array(greeting.utf8)))
    }

    /// Returns the messages of a request, which are fields of a form, and the number of the first one.
    private func messages(
        of call: HTTPCall
    ) async throws(ServingFailure) -> ([WebChannelState.Request], first: Int) {
        let bytes = try await call.bytes(upTo: configuration.maximumBodyBytes)
        let form = try RequestItems(Substring(decoding: bytes, as: UTF8.self).utf8, isForm: true)
        let count = Int(form["count"] ?? "0") ?? -1
        let first = Int(form["ofs"] ?? "0") ?? -1
        guard (0...1_000).contains(count), (0...1 << 50).contains(first) else {
            throw .invalid("“count” or “ofs” is out of range")
        }
        var messages: [WebChannelState.Request] = []
        for number in 0..<count {
            guard let text = form["req\(number)___data__"] else {
                throw .invalid("“req\(number)___data__” is missing")
            }
            do throws(FirestoreJSONError) {
                let json = try FirestoreJSON(
                    parsing: Array(text.utf8),
                    deepest: configuration.maximumJSONLevels,
                    mostValues: configuration.maximumJSONValues
                )
                messages.append(WebChannelState.Request(json: json, size: text.utf8.count))
            } catch {
                throw .invalid("“req\(number)___data__” is not valid JSON: \(error)")
            }
        }
        return (messages, first)
    }
}

/// The open WebChannel sessions of a server.
final class WebChannels: Sendable {
    private let sessions = Mutex<[String: WebChannelSession]>([:])
    /// The bytes that the sessions hold.
    let held = ByteCount()

    var count: Int { sessions.withLock(\.count) }

    subscript(id: String) -> WebChannelSession? {
        get { sessions.withLock { $0[id] } }
        set { sessions.withLock { $0[id] = newValue } }
    }

    /// Ends the sessions that hold most while all of them hold too much.
    func makeRoom(upTo most: Int) {
        guard held.value > most else { return }
        let largest = sessions.withLock { Array($0.values) }
            .map { (session: $0, bytes: $0.heldBytes) }
            .sorted { $0.bytes > $1.bytes }
        for (session, _) in largest {
            guard held.value > most else { return }
            self[session.id] = nil
            session.cutOff()
        }
    }
}

extension HTTPReply {
    fileprivate static func webChannel(_ bytes: [UInt8]) -> HTTPReply {
        var reply = HTTPReply.bytes(.ok, type: "text/plain; charset=utf-8", bytes)
        reply.head.headerFields[.cacheControl] = "no-store"
        reply.head.headerFields[.xContentTypeOptions] = "nosniff"
        // Tells nginx to pass messages on as they arrive.
        reply.head.headerFields[.accelBuffering] = "no"
        return reply
    }
}

extension HTTPField.Name {
    fileprivate static let accelBuffering: Self = {
        guard let name = Self("X-Accel-Buffering") else { preconditionFailure("It is a token.") }
        return name
    }()
}
