package import KeelStorageAdapting

/// Reads messages of Firestore's REST protocol as Keel's values, writes and queries.
///
/// It is the counterpart of ``FirestoreEncoding``, for both ends: a server reads requests, a client
/// replies. What it reads is checked for its form; the rules of the data model, such as the length
/// of ids, are left to the validation that every write and query goes through. As proto3's JSON form
/// asks, names of members are taken in lowerCamelCase and in snake_case, and enumerations by name
/// and by number.
package struct FirestoreDecoding: Sendable {
    /// The database's name: `projects/{project}/databases/{database}`.
    package let database: String
    /// Whether what Keel adds to the protocol is looked at.
    package let isExtended: Bool

    /// Creates a decoding for a database.
    package init(database: String, isExtended: Bool = false) {
        self.database = database
        self.isExtended = isExtended
    }

    /// The error for a message that does not have the form it should have.
    package static func flaw(_ message: String) -> StorageError {
        StorageError(.invalidArgument, message)
    }

    // MARK: Names

    /// The path behind a document's name.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the text names no document of this database.
    package func path(of name: String) throws(StorageError) -> DocumentPath {
        guard let place = place(of: name), !place.isEmpty else {
            throw Self.flaw("“\(name)” does not name a document of “\(database)”")
        }
        let path = DocumentPath(place)
        if let flaw = path.flaw { throw Self.flaw(flaw) }
        return path
    }

    /// The document behind the name of a parent, nil for the root of the database.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the text names neither.
    package func parent(of name: String) throws(StorageError) -> DocumentPath? {
        place(of: name) == "" ? nil : try path(of: name)
    }

    /// What follows the root of the database in a name, or nil.
    private func place(of name: String) -> String? {
        let root = "\(database)/documents"
        guard name.utf8.starts(with: root.utf8) else { return nil }
        let rest = name.utf8.dropFirst(root.utf8.count)
        guard let slash = rest.first else { return "" }
        return slash == UInt8(ascii: "/") ? String(rest.dropFirst()) : nil
    }

    // MARK: Values

    /// The fields of a document or a map.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, naming the field.
    package func fields(_ json: FirestoreJSON?) throws(StorageError) -> DocumentFields {
        guard let json else { return DocumentFields() }
        guard let members = json.members else {
            throw Self.flaw("“fields” is \(json.kindName) and should be an object")
        }
        var fields = DocumentFields()
        for member in members {
            do throws(StorageError) {
                fields[member.name] = try value(member.value)
            } catch {
                throw Self.flaw("field “\(member.name)”: \(error.message)")
            }
        }
        return fields
    }

    /// A `Value`.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`.
    package func value(_ json: FirestoreJSON) throws(StorageError) -> DocumentValue {
        guard let members = json.members else {
            throw Self.flaw("a value is \(json.kindName) and should be an object")
        }
        guard let member = members.first, members.count == 1 else {
            throw Self.flaw("a value has \(members.count) members and should have one")
        }
        return try value(member.value, of: member.name)
    }

    private func value(
        _ json: FirestoreJSON,
        of kind: String
    ) throws(StorageError) -> DocumentValue {
        let value: DocumentValue? =
            switch kind {
            // `NullValue` is an enumeration of one.
            case "nullValue", "null_value":
                [.null, .integer(0), "NULL_VALUE"].contains(json) ? .some(.null) : .none
            case "booleanValue", "boolean_value": json.flag.map { .boolean($0) }
            case "integerValue", "integer_value": json.wholeNumber.map { .integer($0) }
            case "doubleValue", "double_value": json.anyNumber.map { .double($0) }
            case "timestampValue", "timestamp_value":
                json.text.flatMap(FirestoreTime.time).map { .timestamp($0) }
            case "stringValue", "string_value": json.text.map { .string($0) }
            case "bytesValue", "bytes_value": json.text.flatMap(Base64.decode).map { .bytes($0) }
            case "referenceValue", "reference_value":
                try json.text.map { name throws(StorageError) in .reference(try path(of: name)) }
            case "geoPointValue", "geo_point_value": try geopoint(json)
            case "arrayValue", "array_value": .array(try values(json))
            case "mapValue", "map_value": .map(try fields(json["fields"]))
            default: throw Self.flaw("“\(kind)” is no kind of value")
            }
        guard let value else {
            throw Self.flaw("“\(kind)” cannot be \(json.kindName) of this form")
        }
        return value
    }

    /// The values of an `ArrayValue`.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`.
    package func values(_ json: FirestoreJSON) throws(StorageError) -> [DocumentValue] {
        guard json.members != nil else {
            throw Self.flaw("a list of values is \(json.kindName) and should be an object")
        }
        var values: [DocumentValue] = []
        for element in try json.list("values") { values.append(try value(element)) }
        return values
    }

    private func geopoint(_ json: FirestoreJSON) throws(StorageError) -> DocumentValue {
        let latitude = (json["latitude"] ?? .integer(0)).anyNumber
        let longitude = (json["longitude"] ?? .integer(0)).anyNumber
        guard json.members != nil, let latitude, let longitude,
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        else {
            throw Self.flaw("a place needs a latitude of ±90 and a longitude of ±180 degrees")
        }
        return .geopoint(GeoPoint(latitude: latitude, longitude: longitude))
    }
}
