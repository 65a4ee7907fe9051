import KeelStorage

/// An entry in the listing of a collection.
enum ListedDocument {
    case found(Document)
    /// A missing document with descendants.
    case missing(DocumentPath)

    var path: DocumentPath {
        switch self {
        case .found(let document): document.path
        case .missing(let path): path
        }
    }

    /// Returns the values of the entry in the orders of the listing.
    func bound(in orders: [DocumentQuery.Order]) -> DocumentQuery.Bound {
        let values = orders.map { order -> DocumentValue in
            if order.field.isDocumentID { return .reference(path) }
            guard case .found(let document) = self, let value = document[order.field] else {
                return .null
            }
            return value
        }
        return DocumentQuery.Bound(values, isInclusive: false)
    }
}
