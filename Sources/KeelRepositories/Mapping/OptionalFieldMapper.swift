#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Reads fields that may be absent: nil stays nil, and what is there must fit.
///
/// See ``FieldMapper/optional``.
public struct OptionalFieldMapper: Sendable, Hashable {
    let base: FieldMapper

    /// A value that is made of the field's, or refused.
    public func value<Value, Result>(
        _ value: Value?,
        _ field: String,
        expecting expectation: String? = nil,
        _ make: (Value) throws -> Result?
    ) throws(MappingError) -> Result? {
        guard let value else { return nil }
        return try base.value(value, field, expecting: expectation, make)
    }

    /// A text that is not blank; a blank one counts as absent.
    public func text(_ value: String?) -> String? {
        value.flatMap { text in text.contains { !$0.isWhitespace } ? text : nil }
    }

    /// A UUID in its usual form.
    public func uuid(_ value: String?, _ field: String) throws(MappingError) -> UUID? {
        guard let value else { return nil }
        return try base.uuid(value, field)
    }

    /// An identifier of a type of its own.
    public func id<ID: RawRepresentable>(
        _ value: String?,
        _ field: String,
        as type: ID.Type = ID.self
    ) throws(MappingError) -> ID? where ID.RawValue == String {
        guard let value else { return nil }
        return try base.id(value, field, as: type)
    }

    /// A point in time, as ISO 8601 text in the form of RFC 3339, with or without a fraction.
    public func date(_ value: String?, _ field: String) throws(MappingError) -> Date? {
        guard let value else { return nil }
        return try base.date(value, field)
    }

    /// An absolute URL with a host.
    public func url(_ value: String?, _ field: String) throws(MappingError) -> URL? {
        guard let value else { return nil }
        return try base.url(value, field)
    }

    /// A case of an enumeration, by its raw value.
    public func oneOf<Case: RawRepresentable>(
        _ value: Case.RawValue?,
        _ field: String,
        as type: Case.Type = Case.self
    ) throws(MappingError) -> Case? {
        guard let value else { return nil }
        return try base.oneOf(value, field, as: type)
    }

    /// A number within a range.
    public func number<Value: Comparable>(
        _ value: Value?,
        _ field: String,
        in range: ClosedRange<Value>
    ) throws(MappingError) -> Value? {
        guard let value else { return nil }
        return try base.number(value, field, in: range)
    }

    /// A DTO inside this one.
    public func one<DTO: DomainConvertible>(
        _ dto: DTO?,
        _ field: String
    ) throws(MappingError) -> DTO.Domain? {
        guard let dto else { return nil }
        return try base.one(dto, field)
    }

    /// A list of DTOs inside this one; an absent one is empty.
    public func list<DTO: DomainConvertible>(
        _ dtos: [DTO]?,
        _ field: String
    ) throws(MappingError) -> [DTO.Domain] {
        try base.list(dtos ?? [], field)
    }

    /// A list whose elements are mapped one by one; an absent one is empty.
    public func list<Element, Result>(
        _ elements: [Element]?,
        _ field: String,
        _ map: (Element, FieldMapper) throws(MappingError) -> Result
    ) throws(MappingError) -> [Result] {
        try base.list(elements ?? [], field, map)
    }
}
