import KeelStorageFirestore

/// The reply of a streaming method, which over REST is a list of messages.
///
/// Complete bytes can be taken while the list is being built. The closing brace of the last message remains, because
/// members may be added.
struct ReplyList {
    private var bytes: [UInt8] = [UInt8(ascii: "[")]
    private var isEmpty = true
    private var transaction: TransactionToken?

    /// Creates a list whose first message has a token.
    init(first: TransactionToken?) { transaction = first }

    var count: Int { bytes.count - 1 }

    /// Appends a message with one part and the read time; if the part fails, the list is unchanged.
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

    mutating func take() -> [UInt8] {
        guard let last = bytes.popLast() else { return [] }
        defer { bytes = [last] }
        return bytes
    }

    /// Ends the list and returns its remaining bytes; an empty list gets a message with only the read time.
    ///
    /// `skipped` results were skipped by an offset.
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
