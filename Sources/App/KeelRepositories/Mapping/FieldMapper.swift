internal import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Reads the fields of a DTO, and names the field if something does not fit.
///
/// The methods throw ``MappingError/Code/missing`` for nil, and ``MappingError/Code/malformed`` for a value that does
/// not have the required form. ``optional`` has methods for fields that may be absent.
public struct FieldMapper: Sendable, Hashable {
    /// The id of the entity whose fields are read, if known.
    public let entity: String?

    /// The path of the fields; empty at the top level.
    public let path: String

    /// Creates a mapper for an entity.
    public init(of entity: String? = nil) { self.init(entity, path: "") }

    private init(_ entity: String?, path: String) {
        self.entity = entity
        self.path = path
    }

    /// A mapper for fields that may be absent, which become nil; present values must fit.
    public var optional: OptionalFieldMapper { OptionalFieldMapper(base: self) }

    /// Returns a mapper for the fields inside a field.
    public func fields(in field: String) -> FieldMapper {
        FieldMapper(entity, path: place(of: field))
    }

    /// Returns an error for a field.
    public func error(
        _ code: MappingError.Code,
        _ field: String,
        expecting expectation: String? = nil,
        cause: (any Error)? = nil
    ) -> MappingError {
        MappingError(
            code,
            field: place(of: field),
            expecting: expectation,
            in: entity,
            cause: cause
        )
    }

    private func place(of field: String) -> String {
        if path.isEmpty { return field }
        return field.isEmpty || field.hasPrefix("[") ? path + field : "\(path).\(field)"
    }

    // MARK: Values

    /// Returns a value that must be present.
    public func required<Value>(
        _ value: Value?,
        _ field: String
    ) throws(MappingError) -> Value {
        guard let value else { throw error(.missing, field) }
        return value
    }

    /// Returns a text that must be present and not blank.
    public func text(_ value: String?, _ field: String) throws(MappingError) -> String {
        let text = try required(value, field)
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw error(.malformed, field, expecting: "a nonblank text")
        }
        return text
    }

    /// Returns a value made from the field's value.
    ///
    /// ```swift
    /// stars: try fields.value(stars, "stars", expecting: "1 to 5 stars") { Stars($0) }
    /// ```
    ///
    /// - Parameters:
    ///   - value: The field's value.
    ///   - field: The field's name.
    ///   - expectation: The expected form, for the message.
    ///   - make: Makes the value; nil means malformed, an error becomes the cause.
    /// - Returns: The value.
    /// - Throws: ``MappingError/Code/missing``, ``MappingError/Code/malformed``, ``MappingError/Code/refused``.
    public func value<Value, Result>(
        _ value: Value?,
        _ field: String,
        expecting expectation: String? = nil,
        _ make: (Value) throws -> Result?
    ) throws(MappingError) -> Result {
        let value = try required(value, field)
        let made: Result?
        do {
            made = try make(value)
        } catch {
            throw self.error(.refused, field, expecting: expectation, cause: error)
        }
        guard let made else { throw error(.malformed, field, expecting: expectation) }
        return made
    }

    /// Returns a UUID from its standard form.
    public func uuid(_ value: String?, _ field: String) throws(MappingError) -> UUID {
        try self.value(value, field, expecting: "a UUID") { UUID(uuidString: $0) }
    }

    /// Returns a nonblank identifier of a custom type.
    public func id<ID: RawRepresentable>(
        _ value: String?,
        _ field: String,
        as type: ID.Type = ID.self
    ) throws(MappingError) -> ID where ID.RawValue == String {
        let text = try text(value, field)
        return try self.value(text, field, expecting: "a \(ID.self)") { ID(rawValue: $0) }
    }

    /// Returns a date from ISO 8601 text in the form of RFC 3339, with or without a fraction.
    public func date(_ value: String?, _ field: String) throws(MappingError) -> Date {
        try self.value(value, field, expecting: "a date in ISO 8601 format") {
            InternetDate.parse($0)
        }
    }

    /// Returns a date from seconds since 1970.
    public func date(
        secondsSince1970 value: Double?,
        _ field: String
    ) throws(MappingError) -> Date {
        try self.value(value, field, expecting: "seconds since 1970") {
            $0.isFinite ? Date(timeIntervalSince1970: $0) : nil
        }
    }

    /// Returns an absolute URL with a host.
    public func url(_ value: String?, _ field: String) throws(MappingError) -> URL {
        try self.value(value, field, expecting: "an absolute URL") { text in
            guard let url = URL(string: text, encodingInvalidCharacters: false),
                url.scheme != nil, url.host()?.isEmpty == false
            else { return nil }
            return url
        }
    }

    /// Returns an enumeration case by its raw value.
    ///
    /// - Throws: ``MappingError/Code/missing`` or ``MappingError/Code/unknownValue``.
    public func oneOf<Case: RawRepresentable>(
        _ value: Case.RawValue?,
        _ field: String,
        as type: Case.Type = Case.self
    ) throws(MappingError) -> Case {
        let raw = try required(value, field)
        guard let known = Case(rawValue: raw) else {
            throw error(.unknownValue, field, expecting: "a \(Case.self)")
        }
        return known
    }

    /// Returns a number within a range.
    ///
    /// - Throws: ``MappingError/Code/missing`` or ``MappingError/Code/outOfRange``.
    public func number<Value: Comparable>(
        _ value: Value?,
        _ field: String,
        in range: ClosedRange<Value>
    ) throws(MappingError) -> Value {
        let value = try required(value, field)
        guard range.contains(value) else {
            let expectation = "\(range.lowerBound) to \(range.upperBound)"
            throw error(.outOfRange, field, expecting: expectation)
        }
        return value
    }

    // MARK: Nested fields

    /// Maps a nested DTO.
    ///
    /// - Throws: ``MappingError/Code/missing``, or the error of the DTO, with the path of its field.
    public func nested<DTO: DomainConvertible>(
        _ dto: DTO?,
        _ field: String
    ) throws(MappingError) -> DTO.Domain {
        let dto = try required(dto, field)
        do throws(MappingError) {
            return try dto.toDomain()
        } catch {
            throw error.prefixed(by: place(of: field), in: entity)
        }
    }

    /// Maps a list of nested DTOs.
    ///
    /// - Throws: ``MappingError/Code/missing``, or the error of the first DTO that does not fit.
    public func list<DTO: DomainConvertible>(
        _ dtos: [DTO]?,
        _ field: String
    ) throws(MappingError) -> [DTO.Domain] {
        try list(dtos, field) { dto, inner throws(MappingError) in
            do throws(MappingError) {
                return try dto.toDomain()
            } catch {
                throw error.prefixed(by: inner.path, in: entity)
            }
        }
    }

    /// Maps the elements of a list, each with a mapper for its fields.
    public func list<Element, Result>(
        _ elements: [Element]?,
        _ field: String,
        _ map: (Element, FieldMapper) throws(MappingError) -> Result
    ) throws(MappingError) -> [Result] {
        let elements = try required(elements, field)
        var results: [Result] = []
        results.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            results.append(try map(element, fields(in: "\(field)[\(index)]")))
        }
        return results
    }
}

/// Reads fields that may be absent: nil stays nil, and present values must fit; see ``FieldMapper/optional``.
public struct OptionalFieldMapper: Sendable, Hashable {
    let base: FieldMapper

    /// Returns a value made from the field's value.
    public func value<Value, Result>(
        _ value: Value?,
        _ field: String,
        expecting expectation: String? = nil,
        _ make: (Value) throws -> Result?
    ) throws(MappingError) -> Result? {
        guard let value else { return nil }
        return try base.value(value, field, expecting: expectation, make)
    }

    /// Returns a nonblank text; a blank one counts as absent.
    public func text(_ value: String?) -> String? {
        value.flatMap { text in text.contains { !$0.isWhitespace } ? text : nil }
    }

    /// Returns a UUID from its standard form.
    public func uuid(_ value: String?, _ field: String) throws(MappingError) -> UUID? {
        guard let value else { return nil }
        return try base.uuid(value, field)
    }

    /// Returns an identifier of a custom type.
    public func id<ID: RawRepresentable>(
        _ value: String?,
        _ field: String,
        as type: ID.Type = ID.self
    ) throws(MappingError) -> ID? where ID.RawValue == String {
        guard let value else { return nil }
        return try base.id(value, field, as: type)
    }

    /// Returns a date from ISO 8601 text in the form of RFC 3339, with or without a fraction.
    public func date(_ value: String?, _ field: String) throws(MappingError) -> Date? {
        guard let value else { return nil }
        return try base.date(value, field)
    }

    /// Returns an absolute URL with a host.
    public func url(_ value: String?, _ field: String) throws(MappingError) -> URL? {
        guard let value else { return nil }
        return try base.url(value, field)
    }

    /// Returns an enumeration case by its raw value.
    public func oneOf<Case: RawRepresentable>(
        _ value: Case.RawValue?,
        _ field: String,
        as type: Case.Type = Case.self
    ) throws(MappingError) -> Case? {
        guard let value else { return nil }
        return try base.oneOf(value, field, as: type)
    }

    /// Returns a number within a range.
    public func number<Value: Comparable>(
        _ value: Value?,
        _ field: String,
        in range: ClosedRange<Value>
    ) throws(MappingError) -> Value? {
        guard let value else { return nil }
        return try base.number(value, field, in: range)
    }

    /// Maps a nested DTO.
    public func nested<DTO: DomainConvertible>(
        _ dto: DTO?,
        _ field: String
    ) throws(MappingError) -> DTO.Domain? {
        guard let dto else { return nil }
        return try base.nested(dto, field)
    }

    /// Maps a list of nested DTOs; an absent one is empty.
    public func list<DTO: DomainConvertible>(
        _ dtos: [DTO]?,
        _ field: String
    ) throws(MappingError) -> [DTO.Domain] {
        try base.list(dtos ?? [], field)
    }

    /// Maps the elements of a list, each with a mapper for its fields; an absent one is empty.
    public func list<Element, Result>(
        _ elements: [Element]?,
        _ field: String,
        _ map: (Element, FieldMapper) throws(MappingError) -> Result
    ) throws(MappingError) -> [Result] {
        try base.list(elements ?? [], field, map)
    }
}
