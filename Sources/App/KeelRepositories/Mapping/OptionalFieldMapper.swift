#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Reads fields that may be absent: nil stays nil, and present values must fit.
///
/// See ``FieldMapper/optional``.
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
