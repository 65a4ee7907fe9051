package import KeelStorageAdapting

/// Writes Keel's values, writes and queries as messages of Firestore's REST protocol.
///
/// The forms are those of the public reference (firebase.google.com/docs/firestore/reference/rest,
/// version v1): `Value`, `Document`, `Write`, `StructuredQuery`. What Keel adds to them stands in
/// members named `keel`, which `Documentation/Protocols/FirestoreExtensions.md` describes. Nothing
/// is sent here.
package struct FirestoreEncoding: Sendable {
    /// The name of the member that holds what Keel adds to a message.
    package static let extensionName = "keel"

    /// The database's name: `projects/{project}/databases/{database}`.
    package let database: String
    /// Whether the peer understands what Keel adds to the protocol.
    package let isExtended: Bool

    /// Creates an encoding for a database.
    package init(database: String, isExtended: Bool = false) {
        self.database = database
        self.isExtended = isExtended
    }

    /// The name of the database's root, below which all documents are.
    package var root: String { "\(database)/documents" }

    /// The name under which messages know a document.
    package func name(of path: DocumentPath) -> String { "\(root)/\(path.string)" }

    /// The name of what a query looks below: a document, or the root of the database.
    package func parent(of scope: DocumentQuery.Scope) -> String {
        let parent: DocumentPath? =
            switch scope {
            case .collection(let collection): collection.parent
            case .group(_, let ancestor), .everything(let ancestor): ancestor
            }
        return parent.map(name) ?? root
    }

    // MARK: Values

    /// The fields of a document or a map: `map<string, Value>`.
    package func fields(_ fields: DocumentFields) -> FirestoreJSON {
        .object(fields.map { FirestoreJSON.Member($0.name, value($0.value)) })
    }

    /// A `Value`: an object whose one member names the type.
    package func value(_ value: DocumentValue) -> FirestoreJSON {
        switch value {
        case .null: ["nullValue": .null]
        case .boolean(let value): ["booleanValue": .boolean(value)]
        case .integer(let value): ["integerValue": .string("\(value)")]
        case .double(let value): ["doubleValue": Self.number(value)]
        case .timestamp(let time): ["timestampValue": .string(FirestoreTime.text(of: time))]
        case .string(let value): ["stringValue": .string(value)]
        case .bytes(let bytes): ["bytesValue": .string(Base64.encode(bytes))]
        case .reference(let path): ["referenceValue": .string(name(of: path))]
        case .geopoint(let point):
            [
                "geoPointValue": [
                    "latitude": .number(point.latitude), "longitude": .number(point.longitude),
                ]
            ]
        case .array(let values): ["arrayValue": ["values": .array(values.map(self.value))]]
        case .map(let fields): ["mapValue": ["fields": self.fields(fields)]]
        }
    }

    /// JSON has no word for these three; proto3's JSON form writes them as strings.
    private static func number(_ value: Double) -> FirestoreJSON {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
        return .number(value)
    }
}
