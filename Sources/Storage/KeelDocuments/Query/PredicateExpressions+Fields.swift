#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PredicateExpressions.Variable: PredicateField {
    func field(_ scope: PredicateScope) throws(StorageError) -> FieldPath {
        guard let field = scope.variables[key] else { throw PredicateScope.unsupported(self) }
        return field
    }
}

extension PredicateExpressions.KeyPath: PredicateField {
    func field(_ scope: PredicateScope) throws(StorageError) -> FieldPath {
        guard let parent = root as? any PredicateField else {
            throw PredicateScope.unsupported(root)
        }
        let names = try parent.field(scope).names
        return FieldPath(names: names + (try PredicateNames.names(of: keyPath, scope.encoder)))
    }
}

extension PredicateExpressions.ForcedUnwrap: PredicateField {
    func field(_ scope: PredicateScope) throws(StorageError) -> FieldPath {
        guard let inner = inner as? any PredicateField else {
            throw PredicateScope.unsupported(inner)
        }
        return try inner.field(scope)
    }
}

extension PredicateExpressions.OptionalFlatMap: PredicateField {
    /// Resolves `$0.address?.city`.
    func field(_ scope: PredicateScope) throws(StorageError) -> FieldPath {
        guard let wrapped = wrapped as? any PredicateField,
            let path = transform as? any PredicateField
        else { throw PredicateScope.unsupported(self) }
        var scope = scope
        scope.variables[variable.key] = try wrapped.field(scope)
        return try path.field(scope)
    }
}

extension PredicateExpressions.KeyPath: PredicateCondition {
    func filter(negated: Bool, _ scope: PredicateScope) throws(StorageError) -> DocumentFilter {
        guard Output.self == Bool.self else { throw PredicateScope.unsupported(self) }
        return .equal(try field(scope), .boolean(!negated))
    }
}

package enum PredicateNames {
    package static func names<Root, Value>(
        of keyPath: KeyPath<Root, Value>,
        _ encoder: DocumentEncoder
    ) throws(StorageError) -> [String] {
        if let naming = Root.self as? any PredicateFieldNaming.Type,
            let field = field(of: keyPath, in: naming)
        {
            return field.names
        }
        // “\Restaurant.address.city”; a computed property shows as “<computed 0x… (String)>”.
        let text = String(describing: keyPath)
        let rootName = String(reflecting: Root.self)
        let short = String(describing: Root.self)
        let prefix = ["\\\(short).", "\\\(rootName)."].first(where: text.hasPrefix)
        let names = prefix.map { text.dropFirst($0.count).split(separator: ".") } ?? []
        let isPlain = names.allSatisfy { name in
            name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "?" || $0 == "!" }
        }
        guard !names.isEmpty, isPlain else { throw unnamed(short) }
        let keys = names.map { $0.filter { $0 != "?" && $0 != "!" } }.filter { !$0.isEmpty }
        guard !keys.isEmpty else { throw unnamed(short) }
        return keys.map { encoder.configuration.keys.fieldName($0) }
    }

    private static func field<Naming: PredicateFieldNaming>(
        of keyPath: AnyKeyPath,
        in naming: Naming.Type
    ) -> FieldPath? {
        (keyPath as? PartialKeyPath<Naming>).flatMap { Naming.fieldNames[$0] }
    }

    private static func unnamed(_ type: String) -> StorageError {
        StorageError(
            .unsupported,
            "the predicate’s key path has no field name: computed properties, wrapped properties and "
                + "builds without reflection metadata do not provide one; conform \(type) to "
                + "PredicateFieldNaming"
        )
    }
}

/// Alternatives to the expressions that queries do not support.
enum PredicateAdvice {
    static let text = "use matching(_:) to search text, or starts(with:)"
    static let constant = "compare a field with a constant"

    static func advice(for expression: String) -> String {
        switch expression {
        case "CollectionContainsCollection", "StringLocalizedStandardContains",
            "StringCaseInsensitiveCompare", "StringLocalizedCompare", "StringContainsRegex":
            text
        case "Arithmetic", "UnaryMinus", "FloatDivision", "IntDivision", "IntRemainder":
            "store the result of the arithmetic in a separate field"
        case "NilCoalesce":
            "compare the optional itself; a document without the field matches no comparison"
        case "SequenceContainsWhere", "SequenceAllSatisfy", "Filter":
            "use contains(_:) with a constant element, or filter what the query finds"
        case "Value": "decide in Swift whether to add the condition"
        case "Conditional": "write the condition with && and ||"
        case "CollectionIndexSubscript", "DictionaryKeySubscript",
            "DictionaryKeyDefaultValueSubscript":
            "use DocumentFilter with the field’s path"
        default: "use the conditions of DocumentFilter, or filter what the query finds"
        }
    }
}

/// A type that maps its properties to fields, for predicates.
///
/// Add an entry for a property that `CodingKeys` rename, that has a wrapper, or that is the document's id. A property
/// whose field has the same name needs none:
///
/// ```swift
/// extension Restaurant: PredicateFieldNaming {
///     static var fieldNames: [PartialKeyPath<Restaurant>: FieldPath] {
///         [\.id: .documentID, \.name: "title"]
///     }
/// }
/// ```
///
/// In a build with `-disable-reflection-metadata`, every property in a predicate needs an entry; any other throws
/// ``StorageError/Code/unsupported``.
public protocol PredicateFieldNaming {
    /// The fields of the properties whose names differ from their fields.
    static var fieldNames: [PartialKeyPath<Self>: FieldPath] { get }
}
