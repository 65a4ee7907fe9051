import KeelStorage
import KeelStorageFirestore

/// Where the next page of a listing begins: after this name, or after these values.
struct PageToken {
    let json: FirestoreJSON

    /// Begins after a name.
    init(name: String) { json = .string(name) }

    /// Begins after the document that has these values of the listing's orders.
    init(_ bound: DocumentQuery.Bound, _ encoding: FirestoreEncoding) {
        json = ["values": .array(bound.values.map(encoding.value))]
    }

    /// Reads a token; nil where there is none.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if no listing gave it out.
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
    /// - Throws: `StorageError/Code/invalidArgument` if the token is of another listing.
    var name: String {
        get throws(StorageError) {
            guard let name = json.text else {
                throw FirestoreDecoding.flaw("“pageToken” is of another listing")
            }
            return name
        }
    }
}
