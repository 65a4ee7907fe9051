import KeelStorage
import KeelStorageFirestore

/// The items of a request's query, by names in lowerCamelCase.
struct RequestItems {
    private let items: [(name: String, value: String)]

    /// Takes the text behind the question mark apart.
    ///
    /// - Throws: A failure if its percent-encoding is broken.
    init(_ text: Substring.UTF8View) throws(ServingFailure) {
        var items: [(name: String, value: String)] = []
        for item in text.split(separator: UInt8(ascii: "&")) {
            let parts = item.split(
                separator: UInt8(ascii: "="),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let value = parts.count > 1 ? parts[1] : Substring().utf8
            guard let name = RequestTarget.decoded(parts[0], plusIsSpace: true),
                let value = RequestTarget.decoded(value, plusIsSpace: true)
            else { throw RequestTarget.badEncoding }
            items.append((Self.camelCase(name), value))
        }
        self.items = items
    }

    /// Refuses items of other names than these and those that all of Google's services take.
    ///
    /// A mask whose name is misspelt would otherwise turn a change of one field into a replacement
    /// of the document.
    func check(_ names: String...) throws(StorageError) {
        for item in items where !names.contains(item.name) && !Self.common.contains(item.name) {
            throw FirestoreDecoding.flaw("the query of the request has an unknown “\(item.name)”")
        }
        let alternative = self["$alt"] ?? self["alt"] ?? "json"
        guard alternative.split(separator: ";").first == "json" else {
            throw FirestoreDecoding.flaw("“alt” is “\(alternative)”; only “json” is available here")
        }
    }

    /// The parameters that are taken everywhere and change nothing here.
    private static let common: Set<String> = [
        "$alt", "alt", "$prettyPrint", "prettyPrint", "key", "$key", "quotaUser", "$httpHeaders",
        "accessToken", "oauthToken", "uploadType", "uploadProtocol", "$.xgafv",
    ]

    /// The last value of a name.
    subscript(name: String) -> String? { items.last { $0.name == name }?.value }

    /// All values of a name.
    func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    /// The items as the request's message would hold them, each text.
    func text(_ name: String) -> FirestoreJSON? { self[name].map(FirestoreJSON.string) }

    /// The truth value of a name.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if it is something else.
    func flag(_ name: String) throws(StorageError) -> Bool? {
        switch self[name] {
        case nil: return nil
        case "true": return true
        case "false": return false
        default: throw FirestoreDecoding.flaw("“\(name)” is neither true nor false")
        }
    }

    /// A name in lowerCamelCase, also where it was in snake_case.
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
