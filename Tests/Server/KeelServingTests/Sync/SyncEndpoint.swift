import Foundation
import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

/// The routes of a change service, for tests with a transport.
struct SyncEndpoint: ServingHandler {
    let service: ChangeService

    func respond(to call: HTTPCall) async -> HTTPReply {
        let parts = (call.head.path ?? "").prefix { $0 != "?" }.split(separator: "/")
        guard parts.count == 3, parts[0] == "sync" else { return .text(.notFound, "no route") }
        switch parts[2] {
        case "changes": return await service.changes(call, scope: String(parts[1]))
        case "events": return await service.events(call, scope: String(parts[1]))
        default: return .text(.notFound, "no route")
        }
    }
}

extension ChangeService {
    /// Creates a service with the time of a test.
    convenience init(
        _ adapter: any StorageAdapter,
        on clock: TestClock = TestClock(),
        _ change: (inout Configuration) -> Void = { _ in }
    ) {
        var configuration = Configuration()
        configuration.clock = clock
        change(&configuration)
        self.init(adapter: adapter, configuration: configuration)
    }

    /// Sends a request for a path below `/sync/all/`.
    func ask(_ path: String, lastEventID: String? = nil) async throws -> HTTPReply {
        var fields = HTTPFields()
        if let lastEventID, let name = HTTPField.Name("Last-Event-ID") {
            fields[name] = lastEventID
        }
        let place = path.hasPrefix("/") ? path : "/sync/all/\(path)"
        let head = HTTPRequest("http://test\(place)", .get, fields)
        return try await HandlerTransport(SyncEndpoint(service: self)).send(HTTPCall(head))
    }

    /// Returns the parameter of a query of one collection whose documents meet a condition.
    ///
    /// The comparison and the value are those of the Firestore protocol, such as `EQUAL` and `{"stringValue":"a"}`.
    static func query(
        _ collection: String,
        _ field: String,
        _ comparison: String,
        _ value: String
    ) throws -> String {
        let condition =
            #"{"field":{"fieldPath":"\#(field)"},"op":"\#(comparison)","value":\#(value)}"#
        let query =
            #"{"structuredQuery":{"from":[{"collectionId":"\#(collection)"}],"#
            + #""where":{"fieldFilter":\#(condition)}}}"#
        let encoded = query.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        return "query=\(try #require(encoded))"
    }

    /// Requests a page.
    func page(_ query: String = "") async throws -> FirestoreJSON {
        let reply = try await ask("changes?\(query)")
        #expect(reply.head.status == .ok)
        return try FirestoreJSON(parsing: try await reply.body.collect(upTo: 1 << 24))
    }

    /// Opens a stream.
    func stream(_ query: String = "", lastEventID: String? = nil) async throws -> SyncStream {
        let reply = try await ask("events?\(query)", lastEventID: lastEventID)
        #expect(reply.head.status == .ok)
        #expect(reply.head.headerFields[.contentType] == "text/event-stream")
        return SyncStream(reply.body)
    }
}

extension FirestoreJSON {
    /// The paths of a page's changes.
    var paths: [String] { self["changes"]?.elements?.compactMap { $0["path"]?.text } ?? [] }
}

/// Reads a stream of changes event by event.
struct SyncStream: Sendable {
    private var events: ServerSentEvents.Iterator
    /// The last position received.
    private(set) var lastID = ""

    init(_ body: HTTPByteStream) { events = body.serverSentEvents().makeAsyncIterator() }

    mutating func next() async throws -> ServerSentEvent? {
        guard let event = try await events.next() else { return nil }
        lastID = event.lastEventID
        return event
    }

    /// Returns the next event without its data, such as `change a/1` or `checkpoint`.
    mutating func nextName() async throws -> String? {
        guard let event = try await next() else { return nil }
        guard event.type == "change" else { return event.type }
        let json = try FirestoreJSON(parsing: event.data.utf8)
        return "change \(json["path"]?.text ?? "")"
    }

    /// Returns the names of the next events.
    mutating func names(_ count: Int) async throws -> [String] {
        var names: [String] = []
        while names.count < count, let name = try await nextName() { names.append(name) }
        return names
    }

    /// Returns the names of the events before the next event with the given name.
    mutating func names(upTo last: String) async throws -> [String] {
        var names: [String] = []
        while let name = try await nextName(), name != last { names.append(name) }
        return names
    }
}
