import KeelStorageFirestore

/// What names a transaction to a client.
struct TransactionToken: Sendable, Hashable {
    private static let mark = "keel-transaction-"

    let id: String

    init(id: String) { self.id = id }

    /// Reads a token as the protocol sends bytes, in Base64; nil if no server of Keel's made it.
    init?(_ text: String) {
        // A plus sign that stands in a URL unencoded arrives as a space.
        let text = text.contains(" ") ? String(text.map { $0 == " " ? "+" : $0 }) : text
        guard let bytes = Base64.decode(text),
            let content = String(validating: bytes, as: UTF8.self),
            content.hasPrefix(Self.mark), content.utf8.count <= 200
        else { return nil }
        id = String(content.dropFirst(Self.mark.count))
    }

    /// The token as the protocol sends bytes.
    var text: String { Base64.encode(Array((Self.mark + id).utf8)) }
}
