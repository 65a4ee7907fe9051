#if canImport(CoreData)
internal import CoreData
internal import KeelStorage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension DocumentFilter {
    /// Returns the condition for the database; nil for all objects.
    func managedCondition(
        _ attribute: (String) -> NSAttributeDescription?
    ) -> NSPredicate? {
        condition(
            all: { NSCompoundPredicate(andPredicateWithSubpredicates: $0) },
            any: { NSCompoundPredicate(orPredicateWithSubpredicates: $0) },
            comparison: { field, comparison, value in
                guard field.names.count == 1, let attribute = attribute(field.names[0]) else {
                    return nil
                }
                return attribute.condition(comparison, value)
            }
        )
    }
}

extension NSAttributeDescription {
    /// Compares the attribute with a value; nil if the database cannot.
    fileprivate func condition(
        _ comparison: DocumentFilter.Comparison,
        _ value: DocumentValue
    ) -> NSPredicate? {
        switch comparison {
        case .equal where value.isNull:
            return NSPredicate(format: "%K == nil", argumentArray: [name])
        case .notEqual where value.isNull:
            return NSPredicate(format: "%K != nil", argumentArray: [name])
        case .in, .notIn:
            guard case .array(let values) = value else { return nil }
            let constants = values.compactMap { constant($0) }
            guard constants.count == values.count else { return nil }
            let format = comparison == .in ? "%K IN %@" : "NOT (%K IN %@)"
            return NSPredicate(format: format, argumentArray: [name, constants])
        default:
            guard let format = format(comparison), let constant = constant(value) else {
                return nil
            }
            return NSPredicate(format: format, argumentArray: [name, constant])
        }
    }

    private func format(_ comparison: DocumentFilter.Comparison) -> String? {
        // Databases order text differently from Swift, and the others not at all.
        let isOrdered =
            switch attributeType {
            case .stringAttributeType, .UUIDAttributeType, .binaryDataAttributeType,
                .booleanAttributeType:
                false
            default: true
            }
        return switch comparison {
        case .equal: "%K == %@"
        case .notEqual: "%K != %@"
        case .less: isOrdered ? "%K < %@" : nil
        case .lessOrEqual: isOrdered ? "%K <= %@" : nil
        case .greater: isOrdered ? "%K > %@" : nil
        case .greaterOrEqual: isOrdered ? "%K >= %@" : nil
        default: nil
        }
    }

    /// Converts a value to the attribute's type; nil if it does not match.
    private func constant(_ value: DocumentValue) -> Any? {
        switch (attributeType, value) {
        case (.stringAttributeType, .string(let text)): text
        case (.UUIDAttributeType, .string(let text)): UUID(uuidString: text)
        case (.booleanAttributeType, .boolean(let isTrue)): isTrue
        case (.integer16AttributeType, .integer(let number)),
            (.integer32AttributeType, .integer(let number)),
            (.integer64AttributeType, .integer(let number)):
            number
        case (.doubleAttributeType, .double(let number)),
            (.floatAttributeType, .double(let number)):
            number
        case (.dateAttributeType, .timestamp(let time)): time.date
        case (.binaryDataAttributeType, .bytes(let bytes)): Data(bytes)
        default: nil
        }
    }
}
#endif
