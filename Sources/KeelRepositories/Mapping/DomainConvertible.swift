public import KeelHTTP

/// A DTO that can become a thing of the domain.
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
    /// The type that it becomes.
    associatedtype Domain: Sendable

    /// Makes the thing of the domain.
    ///
    /// - Throws: ``MappingError`` for the first field that does not fit.
    func toDomain() throws(MappingError) -> Domain
}

/// A DTO that can be made of a thing of the domain, to be kept or sent.
public protocol DomainRepresentable {
    /// The type that it is made of.
    associatedtype Domain: Sendable

    /// Makes the DTO.
    init(domain: Domain)
}

/// A DTO that can be mapped both ways.
public typealias DomainMappable = DomainConvertible & DomainRepresentable

extension Sequence where Element: DomainConvertible {
    /// Makes things of the domain of all DTOs.
    ///
    /// - Throws: ``MappingError`` for the first that does not fit, with its index in the field's
    ///   path.
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

    /// Makes things of the domain of those DTOs that fit, and reports the others.
    public func toDomainDroppingFailures() -> MappedList<Element.Domain> {
        var list = MappedList<Element.Domain>()
        for (index, dto) in enumerated() { list.append(dto, at: index) }
        return list
    }
}

extension LossyList where Element: DomainConvertible {
    /// Makes things of the domain of those elements that could be decoded and that fit.
    ///
    /// Elements that could not be decoded are reported beside those that could not be mapped, each
    /// with its index in the list that was received.
    public func toDomain() -> MappedList<Element.Domain> {
        var list = MappedList<Element.Domain>()
        var rest = elements[...]
        var undecoded = dropped[...]
        for index in 0..<elements.count + dropped.count {
            if undecoded.first?.index == index, let failure = undecoded.popFirst() {
                list.dropped.append(failure)
            } else if let dto = rest.popFirst() {
                list.append(dto, at: index)
            }
        }
        return list
    }
}

/// Things of the domain, and what could not become one.
public struct MappedList<Domain> {
    /// Those that could be mapped, in their order.
    public var elements: [Domain] = []

    /// The elements that were left out, in order, each with its index and the reason.
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
