internal import KeelCore
package import KeelStorageAdapting

/// Encodes values, writes and queries as messages of Firestore's REST protocol.
///
/// The forms are those of the public reference (firebase.google.com/docs/firestore/reference/rest, version v1):
/// `Value`, `Document`, `Write`, `StructuredQuery`. Keel's extensions are in members named `keel`; see
/// `Documentation/Protocols/FirestoreExtensions.md`.
package struct FirestoreEncoding: Sendable {
    /// The name of the member that contains Keel's extensions of a message.
    package static let extensionName = "keel"

    /// The database's name: `projects/{project}/databases/{database}`.
    package let database: String
    package let isExtended: Bool

    package init(database: String, isExtended: Bool = false) {
        self.database = database
        self.isExtended = isExtended
    }

    package var root: String { "\(database)/documents" }

    package func name(of path: DocumentPath) -> String { "\(root)/\(path.string)" }

    package func parent(of scope: DocumentQuery.Scope) -> String {
        let parent: DocumentPath? =
            switch scope {
            case .collection(let collection): collection.parent
            case .group(_, let ancestor), .everything(let ancestor): ancestor
            }
        return parent.map(name) ?? root
    }

    // MARK: Values

    package func fields(_ fields: DocumentFields) -> FirestoreJSON {
        .object(fields.map { FirestoreJSON.Member($0.name, value($0.value)) })
    }

    package func value(_ value: DocumentValue) -> FirestoreJSON {
        switch value {
        case .null: ["nullValue": .null]
        case .boolean(let value): ["booleanValue": .boolean(value)]
        case .integer(let value): ["integerValue": .string("\(value)")]
        case .double(let value): ["doubleValue": .double(value)]
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
        case .vector(let vector): ["mapValue": ["fields": fields(vector.wireFields)]]
        case .map(let fields): ["mapValue": ["fields": self.fields(fields)]]
        }
    }
}
