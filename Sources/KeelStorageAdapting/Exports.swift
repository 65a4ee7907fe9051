// An adapter speaks of documents, so that its authors need one import.
@_exported public import KeelDocuments
