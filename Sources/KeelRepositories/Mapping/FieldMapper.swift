internal import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Reads the fields of one DTO, and blames the right one where something does not fit.
///
/// Every method takes a value as the DTO has it, usually an optional, and the field's name. What is
/// nil is reported as missing; ``optional`` has the same methods for fields that may be.
public struct FieldMapper: Sendable, Hashable {
    /// The id of the thing whose fields are read, where it is known.
    public let entity: String?

    /// Where the fields lie, empty at the top level.
    public let path: String

    /// Creates a mapper for a thing.
    public init(of entity: String? = nil) { self.init(entity, path: "") }

    private init(_ entity: String?, path: String) {
        self.entity = entity
        self.path = path
    }

    /// The mapper for fields that may be absent: they become nil, but must fit if they are there.
    public var optional: OptionalFieldMapper { OptionalFieldMapper(base: self) }

    /// The mapper for what lies inside a field.
    public func inside(_ field: String) -> FieldMapper {
        FieldMapper(entity, path: place(of: field))
    }

    /// The error for a field.
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

    /// A value that has to be there.
    public func required<Value>(
        _ value: Value?,
        _ field: String
    ) throws(MappingError) -> Value {
        guard let value else { throw error(.missing, field) }
        return value
    }

    /// A text that has to be there and not be blank.
    public func text(_ value: String?, _ field: String) throws(MappingError) -> String {
        let text = try required(value, field)
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw error(.malformed, field, expecting: "a text that is not blank")
        }
        return text
    }

    /// A value that is made of the field's, or refused.
    ///
    /// ```swift
    /// stars: try fields.value(stars, "stars", expecting: "1 to 5 stars") { Stars($0) }
    /// ```
    ///
    /// - Parameters:
    ///   - value: The field's value.
    ///   - field: The field's name.
    ///   - expectation: The expected form, for the message.
    ///   - make: Makes the value; nil says that it is malformed, an error becomes the cause.
    /// - Returns: The value.
    /// - Throws: ``MappingError/Code/missing``, ``MappingError/Code/malformed``,
    ///   ``MappingError/Code/refused``.
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

    /// A UUID in its usual form.
    public func uuid(_ value: String?, _ field: String) throws(MappingError) -> UUID {
        try self.value(value, field, expecting: "a UUID") { UUID(uuidString: $0) }
    }

    /// An identifier of a type of its own, such as `RestaurantID`, that is not blank.
    public func id<ID: RawRepresentable>(
        _ value: String?,
        _ field: String,
        as type: ID.Type = ID.self
    ) throws(MappingError) -> ID where ID.RawValue == String {
        let text = try text(value, field)
        return try self.value(text, field, expecting: "a \(ID.self)") { ID(rawValue: $0) }
    }

    /// A point in time, as ISO 8601 text in the form of RFC 3339, with or without a fraction.
    public func date(_ value: String?, _ field: String) throws(MappingError) -> Date {
        try self.value(value, field, expecting: "a date in ISO 8601 form") {
            InternetDate.parse($0)
        }
    }

    /// A point in time, as seconds since 1970.
    public func date(
        secondsSince1970 value: Double?,
        _ field: String
    ) throws(MappingError) -> Date {
        try self.value(value, field, expecting: "seconds since 1970") {
            $0.isFinite ? Date(timeIntervalSince1970: $0) : nil
        }
    }

    /// An absolute URL with a host.
    public func url(_ value: String?, _ field: String) throws(MappingError) -> URL {
        try self.value(value, field, expecting: "an absolute URL") { text in
            guard let url = URL(string: text, encodingInvalidCharacters: false),
                url.scheme != nil, url.host()?.isEmpty == false
            else { return nil }
            return url
        }
    }

    /// A case of an enumeration, by its raw value.
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

    /// A number within a range.
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

    // MARK: What has fields itself

    /// A DTO inside this one.
    public func one<DTO: DomainConvertible>(
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

    /// A list of DTOs inside this one.
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

    /// A list whose elements are mapped one by one, each with a mapper for its fields.
    public func list<Element, Result>(
        _ elements: [Element]?,
        _ field: String,
        _ map: (Element, FieldMapper) throws(MappingError) -> Result
    ) throws(MappingError) -> [Result] {
        let elements = try required(elements, field)
        var results: [Result] = []
        results.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            results.append(try map(element, inside("\(field)[\(index)]")))
        }
        return results
    }
}
