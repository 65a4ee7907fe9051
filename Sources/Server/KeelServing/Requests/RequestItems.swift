import KeelStorage
import KeelStorageFirestore

/// The query items of a request, with names in lowerCamelCase, or the fields of a form.
struct RequestItems {
    /// The maximum number of parsed items, all of which are searched for each name.
    private static let most = 10_000

    private let items: [(name: String, value: String)]

    init(_ items: [(name: String, value: String)]) { self.items = items }

    /// Parses a query string, or a form, whose names stay unchanged.
    ///
    /// - Throws: A failure if the percent-encoding is invalid, or if there are more than 10,000 items.
    init(_ text: Substring.UTF8View, isForm: Bool = false) throws(ServingFailure) {
        var items: [(name: String, value: String)] = []
        let texts = text.split(separator: UInt8(ascii: "&"), maxSplits: Self.most)
        guard texts.count <= Self.most else {
            throw .invalid("the request has more than \(Self.most) parameters")
        }
        for item in texts {
            let parts = item.split(
                separator: UInt8(ascii: "="),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let value = parts.count > 1 ? parts[1] : Substring().utf8
            guard let name = RequestTarget.decoded(parts[0], plusIsSpace: true),
                let value = RequestTarget.decoded(value, plusIsSpace: true)
            else { throw RequestTarget.badEncoding }
            items.append((isForm ? name : Self.camelCase(name), value))
        }
        self.items = items
    }

    /// Rejects items other than the given ones and the common parameters of Google's services.
    func check(_ names: String...) throws(StorageError) {
        for item in items where !names.contains(item.name) && !Self.common.contains(item.name) {
            throw FirestoreDecoding.flaw("the query of the request has an unknown “\(item.name)”")
        }
        let alternative = self["$alt"] ?? self["alt"] ?? "json"
        guard alternative.split(separator: ";").first == "json" else {
            throw FirestoreDecoding.flaw("“alt” is “\(alternative)”; only “json” is available here")
        }
    }

    /// The common parameters, which are ignored except `alt`.
    private static let common: Set<String> = [
        "$alt", "alt", "$prettyPrint", "prettyPrint", "key", "$key", "quotaUser", "$httpHeaders",
        "accessToken", "oauthToken", "uploadType", "uploadProtocol", "$.xgafv",
    ]

    /// Returns the last value of a name.
    subscript(name: String) -> String? { items.last { $0.name == name }?.value }

    func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    func text(_ name: String) -> FirestoreJSON? { self[name].map(FirestoreJSON.string) }

    /// Returns the Boolean value of a name.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the value is not a Boolean.
    func flag(_ name: String) throws(StorageError) -> Bool? {
        switch self[name] {
        case nil: return nil
        case "true": return true
        case "false": return false
        default: throw FirestoreDecoding.flaw("“\(name)” is neither true nor false")
        }
    }

    static func camelCase(_ name: String) -> String {
        guard name.utf8.contains(UInt8(ascii: "_")) else { return name }
        var isStart = false
        return name.reduce(into: "") { text, character in
            if character == "_" {
                isStart = true
            } else {
                text += isStart ? character.uppercased() : String(character)
                isStart = false
            }
        }
    }
}
