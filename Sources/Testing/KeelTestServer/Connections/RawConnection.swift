#if TestServer
public import KeelTestKit

/// A connection whose bytes a test reads and writes directly.
///
/// Use it from one task at a time.
public final class RawConnection: Sendable {
    /// The index of the connection in the server, counted from 0.
    public let number: Int

    private let reader: WireReader
    private let wire: Wire
    private let journal: Watched<HTTPTestJournal>
    private let parser: Watched<HTTP1RequestParser>

    init(
        _ number: Int,
        _ reader: WireReader,
        _ wire: Wire,
        _ journal: Watched<HTTPTestJournal>
    ) {
        self.number = number
        self.reader = reader
        self.wire = wire
        self.journal = journal
        parser = Watched(HTTP1RequestParser())
    }

    /// Returns the next bytes, or nil when the client sends no more.
    public func read() async throws -> [UInt8]? {
        try await reader.next()
    }

    /// Reads the next HTTP/1.1 request completely and records it in the server's requests.
    ///
    /// Do not combine this method with ``read()``, because it may read more bytes than it returns.
    ///
    /// - Returns: The request; nil when the client sends no more, or something else than a request.
    /// - Throws: An error of the connection.
    public func readRequest() async throws -> HTTPTestRequest? {
        var request: Int?
        while true {
            switch parser.change({ $0.next() }) {
            case .head(let head)?:
                request = journal.change { $0.begin(head, on: self.number) }
            case .body(let bytes)?:
                guard let request else { continue }
                journal.change { $0.receive(bytes, of: request, limit: .max) }
            case .end(let trailers)?:
                guard let request else { continue }
                return journal.change { journal in
                    journal.requests[request].trailers = trailers
                    journal.requests[request].isComplete = true
                    return journal.requests[request]
                }
            case .invalid?:
                return nil
            case nil:
                guard let bytes = try await reader.next() else { return nil }
                parser.change { $0.append(bytes) }
            }
        }
    }

    func note(_ request: HTTPTestRequest) {
        journal.change { journal in
            let index = journal.begin(request, on: self.number)
            journal.requests[index].isComplete = true
        }
    }

    /// Writes bytes, waiting while the client does not read; throws if the client has hung up.
    public func write(_ bytes: [UInt8]) async throws {
        try await wire.write(bytes)
    }

    /// Writes a text; throws if the client has hung up.
    public func write(_ text: String) async throws {
        try await wire.write(Array(text.utf8))
    }

    /// Closes the connection gracefully.
    public func close() async {
        await wire.close()
    }

    /// Closes the connection without TLS's close notification.
    public func cut() async {
        await wire.cut()
    }

    /// Resets the connection, as if the peer had crashed.
    public func reset() async {
        await wire.reset()
    }

    /// Sends nothing until the client hangs up.
    public func stall() async {
        try? await wire.waitForClose()
    }
}
#endif
