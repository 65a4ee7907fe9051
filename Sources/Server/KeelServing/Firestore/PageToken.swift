internal import KeelCore
import KeelStorage
import KeelStorageFirestore

/// The start of a page of a listing, after a name or values.
struct PageToken {
    let json: FirestoreJSON

    init(name: String) { json = .string(name) }

    /// Creates a token for the page after the given values of the listing's orders.
    init(_ bound: DocumentQuery.Bound, _ encoding: FirestoreEncoding) {
        json = ["values": .array(bound.values.map(encoding.value))]
    }

    /// Parses a token; returns nil if there is none.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the token is malformed.
    init?(_ text: String?) throws(StorageError) {
        guard let text, !text.isEmpty else { return nil }
        guard let bytes = Base64.decode(text), let json = try? FirestoreJSON(parsing: bytes) else {
            throw FirestoreDecoding.flaw("“pageToken” is not one that a listing gave out")
        }
        self.json = json
    }

    var text: String { Base64.encodeForURL(json.bytes) }

    /// The name.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the token belongs to another kind of listing.
    var name: String {
        get throws(StorageError) {
            guard let name = json.text else {
                throw FirestoreDecoding.flaw("“pageToken” is of another listing")
            }
            return name
        }
    }
}
