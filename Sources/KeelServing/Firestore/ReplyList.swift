import KeelStorageFirestore

/// The reply of a method that streams: over REST, a list of the messages.
struct ReplyList {
    private var bytes: [UInt8] = [UInt8(ascii: "[")]
    private var transaction: TransactionToken?
    private let last: FirestoreJSON?

    /// Begins a list.
    ///
    /// - Parameters:
    ///   - first: The transaction that began with the request, which the first message names.
    ///   - last: What Keel adds to the last message.
    init(first: TransactionToken?, last: FirestoreJSON?) {
        transaction = first
        self.last = last
    }

    /// Appends a message with one part, and the time of the read.
    mutating func append<Failure: Error>(
        _ name: StaticString,
        at time: FirestoreJSON,
        _ part: (inout [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        begin()
        name.withUTF8Buffer { name in
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: name)
            bytes += #"":"#.utf8
        }
        try part(&bytes)
        bytes.append(UInt8(ascii: ","))
        end(at: time)
    }

    /// Ends the list and returns it; one without a message gets one that tells the time alone.
    ///
    /// - Parameters:
    ///   - time: The time of the read.
    ///   - metrics: How a query was carried out, which the last message tells.
    /// - Returns: The list.
    mutating func finish(at time: FirestoreJSON, metrics: FirestoreJSON? = nil) -> [UInt8] {
        if bytes.count == 1 {
            begin()
            end(at: time)
        }
        if let metrics { add("explainMetrics", metrics) }
        if let last { add("keel", last) }
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }

    /// Adds a member to the last message.
    private mutating func add(_ name: String, _ value: FirestoreJSON) {
        bytes[bytes.count - 1] = UInt8(ascii: ",")
        bytes += #""\#(name)":"#.utf8
        value.append(to: &bytes)
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func begin() {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "{"))
        guard let token = transaction.take() else { return }
        bytes += #""transaction":"#.utf8
        FirestoreJSON.string(token.text).append(to: &bytes)
        bytes.append(UInt8(ascii: ","))
    }

    private mutating func end(at time: FirestoreJSON) {
        bytes += #""readTime":"#.utf8
        time.append(to: &bytes)
        bytes.append(UInt8(ascii: "}"))
    }
}
