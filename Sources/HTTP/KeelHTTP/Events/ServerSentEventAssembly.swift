struct ServerSentEventAssembly: Sendable {
    private(set) var reconnectionDelay: Duration?
    private(set) var lastEventID: String

    private let limit: Int
    private var type = ""
    private var data: [UInt8] = []
    private var hasData = false

    // The identifier takes effect only at a blank line, so that an event cut off halfway is requested again.
    private var pendingID: String

    init(limit: Int, lastEventID: String) {
        self.limit = limit
        self.lastEventID = lastEventID
        pendingID = lastEventID
    }

    /// Processes a line without its end; returns the event that it completes, or an error.
    mutating func take(
        line: UnsafeRawBufferPointer
    ) -> Result<ServerSentEvent, TransportError>? {
        guard !line.isEmpty else { return complete().map { .success($0) } }
        var name = line.count
        for index in line.indices where line[index] == Self.colon {
            name = index
            break
        }
        var start = min(name + 1, line.count)
        if start < line.count, line[start] == Self.space { start += 1 }
        let value = UnsafeRawBufferPointer(rebasing: line[start...])
        switch name {
        case 4 where Self.matches(line, "data"):
            return append(value).map { .failure($0) }
        case 5 where Self.matches(line, "event"):
            type = String(decoding: value, as: UTF8.self)
        case 5 where Self.matches(line, "retry"):
            setDelay(value)
        case 2 where Self.matches(line, "id"):
            if !value.contains(0) { pendingID = String(decoding: value, as: UTF8.self) }
        default:
            // A comment, whose name is empty, or an unknown field.
            break
        }
        return nil
    }

    private mutating func complete() -> ServerSentEvent? {
        lastEventID = pendingID
        // Only a data line makes an event; an empty one suffices.
        guard hasData else {
            type = ""
            return nil
        }
        let event = ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data, as: UTF8.self),
            lastEventID: lastEventID
        )
        type = ""
        data.removeAll(keepingCapacity: data.capacity <= Self.keptCapacity)
        hasData = false
        return event
    }

    private mutating func append(_ value: UnsafeRawBufferPointer) -> TransportError? {
        guard value.count + (hasData ? 1 : 0) <= limit - data.count else {
            return TransportError(
                .responseTooLarge,
                "An event has more data than the limit of \(limit) bytes."
            )
        }
        if hasData { data.append(LineEnd.lineFeed) }
        data.append(contentsOf: value)
        hasData = true
        return nil
    }

    private mutating func setDelay(_ value: UnsafeRawBufferPointer) {
        guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) else { return }
        // A number too large for any clock is ignored.
        if let milliseconds = Int64(String(decoding: value, as: UTF8.self)) {
            reconnectionDelay = .milliseconds(milliseconds)
        }
    }

    private static func matches(_ line: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        for index in 0..<name.utf8CodeUnitCount where line[index] != name.utf8Start[index] {
            return false
        }
        return true
    }

    private static let colon = UInt8(ascii: ":")
    private static let space = UInt8(ascii: " ")
    private static let keptCapacity = 64 * 1024
}
