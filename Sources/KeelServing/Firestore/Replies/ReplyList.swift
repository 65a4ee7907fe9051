import KeelStorageFirestore

/// The reply of a method that streams: over REST, a list of the messages.
///
/// It can be taken away piece by piece while it is made; the brace that ends a message stays until it
/// is known whether the message is the last one.
struct ReplyList {
    private var bytes: [UInt8] = [UInt8(ascii: "[")]
    private var isEmpty = true
    private var transaction: TransactionToken?

    /// Begins a list.
    ///
    /// - Parameter first: The transaction that began with the request, which the first message names.
    init(first: TransactionToken?) { transaction = first }

    /// How many bytes can be taken.
    var count: Int { bytes.count - 1 }

    /// Appends a message with one part, and the time of the read; nothing of it stays if the part fails.
    mutating func append<Failure: Error>(
        _ name: StaticString,
        at time: FirestoreJSON,
        _ part: (inout [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        let before = (count: bytes.count, isEmpty: isEmpty, transaction: transaction)
        begin()
        name.withUTF8Buffer { name in
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: name)
            bytes += #"":"#.utf8
        }
        do throws(Failure) {
            try part(&bytes)
        } catch {
            bytes.removeLast(bytes.count - before.count)
            (isEmpty, transaction) = (before.isEmpty, before.transaction)
            throw error
        }
        bytes.append(UInt8(ascii: ","))
        end(at: time)
    }

    /// Takes away what is complete.
    mutating func take() -> [UInt8] {
        guard let last = bytes.popLast() else { return [] }
        defer { bytes = [last] }
        return bytes
    }

    /// Ends the list and returns the rest of it; one without a message gets one that tells the time
    /// alone.
    ///
    /// - Parameters:
    ///   - time: The time of the read.
    ///   - skipped: How many results an offset has passed over.
    ///   - metrics: How a query was carried out, which the last message tells.
    ///   - addition: What Keel adds to the last message.
    /// - Returns: What has not been taken yet.
    mutating func finish(
        at time: FirestoreJSON,
        skipped: Int = 0,
        metrics: FirestoreJSON? = nil,
        addition: FirestoreJSON? = nil
    ) -> [UInt8] {
        if isEmpty {
            begin()
            end(at: time)
        }
        if skipped > 0 { add("skippedResults", .integer(Int64(skipped))) }
        if let metrics { add("explainMetrics", metrics) }
        if let addition { add("keel", addition) }
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
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
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
