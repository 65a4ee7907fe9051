import KeelStorageFirestore

/// The identifier of a transaction for clients.
struct TransactionToken: Sendable, Hashable {
    private static let mark = "keel-transaction-"

    let id: String

    init(id: String) { self.id = id }

    /// Parses a token, which is Base64 in the protocol; returns nil if it was not created by a Keel server.
    init?(_ text: String) {
        // An unencoded plus sign in a URL arrives as a space.
        let text = text.contains(" ") ? String(text.map { $0 == " " ? "+" : $0 }) : text
        guard let bytes = Base64.decode(text),
            let content = String(validating: bytes, as: UTF8.self),
            content.hasPrefix(Self.mark), content.utf8.count <= 200
        else { return nil }
        id = String(content.dropFirst(Self.mark.count))
    }

    /// The token in the form of the protocol.
    var text: String { Base64.encode(Array((Self.mark + id).utf8)) }
}
