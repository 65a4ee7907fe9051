package import KeelStorageAdapting

extension FirestoreJSON {
    /// Creates the plain form of a value; see ``DocumentJSON`` for what it loses.
    init(plain value: DocumentValue) {
        self =
            switch value {
            case .null: .null
            case .boolean(let value): .boolean(value)
            case .integer(let value): .integer(value)
            case .double(let value) where value.isNaN: "NaN"
            case .double(let value) where value.isInfinite: value < 0 ? "-Infinity" : "Infinity"
            case .double(let value): .number(value)
            case .timestamp(let time): .string(FirestoreTime.text(of: time))
            case .string(let text): .string(text)
            case .bytes(let bytes): .string(Base64.encode(bytes))
            case .reference(let path): .string(path.string)
            case .geopoint(let point):
                ["latitude": .number(point.latitude), "longitude": .number(point.longitude)]
            case .array(let values): .array(values.map(FirestoreJSON.init(plain:)))
            case .map(let fields):
                .object(fields.map { Member($0.name, FirestoreJSON(plain: $0.value)) })
            }
    }

    /// The value of plain JSON.
    package var plainValue: DocumentValue {
        switch self {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .number(let value): .double(value)
        case .string(let text): .string(text)
        case .array(let values): .array(values.map(\.plainValue))
        case .object(let members):
            .map(DocumentFields(members.lazy.map { ($0.name, $0.value.plainValue) }))
        }
    }
}
