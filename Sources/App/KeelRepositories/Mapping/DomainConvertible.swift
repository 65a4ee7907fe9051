public import KeelHTTP

/// A DTO that can be mapped to a domain value.
///
/// ```swift
/// extension RestaurantDTO: DomainConvertible {
///     func toDomain() throws(MappingError) -> Restaurant {
///         let fields = FieldMapper(of: id)
///         return Restaurant(
///             id: try fields.uuid(id, "id"),
///             name: try fields.text(name, "name"),
///             opened: try fields.date(opened, "opened"),
///             website: try fields.optional.url(website, "website"),
///             grades: try fields.list(grades, "grades")
///         )
///     }
/// }
/// ```
public protocol DomainConvertible {
    /// The type of the domain value.
    associatedtype Domain: Sendable

    /// Makes the domain value.
    ///
    /// - Throws: ``MappingError`` for the first field that does not fit.
    func toDomain() throws(MappingError) -> Domain
}

/// A DTO that can be created from a domain value, to be stored or sent.
public protocol DomainRepresentable {
    /// The type of the domain value.
    associatedtype Domain: Sendable

    /// Makes the DTO.
    init(domain: Domain)
}

/// A DTO that can be mapped both ways.
public typealias DomainMappable = DomainConvertible & DomainRepresentable

extension Sequence where Element: DomainConvertible {
    /// Maps all DTOs to domain values.
    ///
    /// - Throws: ``MappingError`` for the first one that does not fit, with its index in the path.
    public func toDomain() throws(MappingError) -> [Element.Domain] {
        var domain: [Element.Domain] = []
        for (index, dto) in enumerated() {
            do throws(MappingError) {
                domain.append(try dto.toDomain())
            } catch {
                throw error.prefixed(by: "[\(index)]")
            }
        }
        return domain
    }

    /// Maps the DTOs that fit to domain values, and reports the others.
    public func toDomainDroppingFailures() -> MappedList<Element.Domain> {
        var list = MappedList<Element.Domain>()
        for (index, dto) in enumerated() { list.append(dto, at: index) }
        return list
    }
}

extension LossyList where Element: DomainConvertible {
    /// Maps the elements that could be decoded and that fit to domain values.
    ///
    /// All others are reported, each with its index in the received list.
    public func toDomain() -> MappedList<Element.Domain> {
        var list = MappedList<Element.Domain>()
        var rest = elements[...]
        var undecoded = droppedElements[...]
        for index in 0..<elements.count + droppedElements.count {
            if undecoded.first?.index == index, let failure = undecoded.popFirst() {
                list.dropped.append(failure)
            } else if let dto = rest.popFirst() {
                list.append(dto, at: index)
            }
        }
        return list
    }
}

/// A list of domain values, with the elements that could not be mapped.
public struct MappedList<Domain> {
    /// The mapped elements, in order.
    public var elements: [Domain] = []

    /// The omitted elements, in order, each with its index and the reason.
    public var dropped: [DroppedElement] = []

    /// Creates an empty list.
    public init() {}

    fileprivate mutating func append<DTO: DomainConvertible>(_ dto: DTO, at index: Int)
    where DTO.Domain == Domain {
        do throws(MappingError) {
            elements.append(try dto.toDomain())
        } catch {
            dropped.append(DroppedElement(index: index, reason: error.message))
        }
    }
}

extension MappedList: Sendable where Domain: Sendable {}
