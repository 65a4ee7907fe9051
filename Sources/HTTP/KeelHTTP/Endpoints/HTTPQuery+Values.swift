#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPQuery {
    /// The notation for several values of one name.
    public enum ListStyle: Sendable, Hashable {
        /// `tag=a&tag=b`, as HTML forms do.
        case repeated
        /// `tag=a%2Cb`: one item with commas.
        case commaSeparated
        /// `tag[]=a&tag[]=b`, as PHP and Rails expect.
        case bracketed
    }

    /// Appends several values of one name; an empty array appends nothing.
    public mutating func append(
        _ name: String,
        _ values: [some LosslessStringConvertible],
        style: ListStyle = .repeated
    ) {
        let texts = values.map(\.description)
        guard !texts.isEmpty else { return }
        switch style {
        case .repeated: items += texts.map { Item(name: name, value: $0) }
        case .bracketed: items += texts.map { Item(name: name + "[]", value: $0) }
        case .commaSeparated:
            items.append(Item(name: name, value: texts.joined(separator: ",")))
        }
    }

    /// Appends the raw value of an enumeration's case or of a typed identifier; nil appends nothing.
    public mutating func append<Value: RawRepresentable>(_ name: String, _ value: Value?)
    where Value.RawValue: LosslessStringConvertible {
        append(name, value?.rawValue)
    }

    /// Appends the description of a value that also has a raw value; nil appends nothing.
    public mutating func append<Value: RawRepresentable & LosslessStringConvertible>(
        _ name: String,
        _ value: Value?
    ) where Value.RawValue: LosslessStringConvertible {
        append(name, value?.description)
    }

    /// Appends the raw values of an enumeration's cases; an empty array appends nothing.
    public mutating func append<Value: RawRepresentable>(
        _ name: String,
        _ values: [Value],
        style: ListStyle = .repeated
    ) where Value.RawValue: LosslessStringConvertible {
        append(name, values.map(\.rawValue), style: style)
    }

    /// Appends a date in a format of the service's JSON; nil, or a date that the format cannot express, appends
    /// nothing.
    public mutating func append(
        _ name: String,
        _ date: Date?,
        as dates: JSONCoding.Dates = .iso8601
    ) {
        guard let date else { return }
        append(name, dates.text(of: date))
    }

    /// Appends a UUID in its usual form, in capitals; nil appends nothing.
    public mutating func append(_ name: String, _ value: UUID?) {
        append(name, value?.uuidString)
    }
}
