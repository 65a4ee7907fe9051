internal import KeelCore
package import KeelStorageAdapting

/// Decodes messages of Firestore's REST protocol.
///
/// Malformed messages throw `StorageError/Code/invalidArgument`; the validation of writes and queries checks the rules
/// of the data model, such as the length of ids. As in proto3's JSON form, member names may be in lowerCamelCase and
/// snake_case, and enumerations names and numbers.
package struct FirestoreDecoding: Sendable {
    /// The database's name: `projects/{project}/databases/{database}`.
    package let database: String
    package let isExtended: Bool

    package init(database: String, isExtended: Bool = false) {
        self.database = database
        self.isExtended = isExtended
    }

    package static func flaw(_ message: String) -> StorageError {
        StorageError(.invalidArgument, message)
    }

    // MARK: Names

    /// Returns the path of a document's name.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the text does not name a document of this database.
    package func path(of name: String) throws(StorageError) -> DocumentPath {
        guard let place = place(of: name), !place.isEmpty else {
            throw Self.flaw("“\(name)” does not name a document of “\(database)”")
        }
        let path = DocumentPath(place)
        if let flaw = path.flaw { throw Self.flaw(flaw) }
        return path
    }

    /// Returns the document of a parent's name; nil for the root of the database.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the text names neither.
    package func parent(of name: String) throws(StorageError) -> DocumentPath? {
        place(of: name) == "" ? nil : try path(of: name)
    }

    private func place(of name: String) -> String? {
        let root = "\(database)/documents"
        guard name.utf8.starts(with: root.utf8) else { return nil }
        let rest = name.utf8.dropFirst(root.utf8.count)
        guard let slash = rest.first else { return "" }
        return slash == UInt8(ascii: "/") ? String(rest.dropFirst()) : nil
    }

    // MARK: Values

    /// Decodes the fields of a document or a map.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, with the name of the field.
    package func fields(_ json: FirestoreJSON?) throws(StorageError) -> DocumentFields {
        guard let json else { return DocumentFields() }
        guard let members = json.members else {
            throw Self.flaw("“fields” is \(json.kindName) and should be an object")
        }
        var fields: [(String, DocumentValue)] = []
        fields.reserveCapacity(members.count)
        for member in members {
            do throws(StorageError) {
                fields.append((member.name, try value(member.value)))
            } catch {
                throw Self.flaw("field “\(member.name)”: \(error.message)")
            }
        }
        return DocumentFields(fields)
    }

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
            // `NullValue` is an enumeration with one case.
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
            case "mapValue", "map_value": DocumentValue(wireFields: try fields(json["fields"]))
            default: throw Self.flaw("“\(kind)” is not a kind of value")
            }
        guard let value else {
            throw Self.flaw("“\(kind)” cannot be \(json.kindName) of this form")
        }
        return value
    }

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
