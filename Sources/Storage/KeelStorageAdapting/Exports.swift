// Adapters use documents throughout; the export lets their authors import only this module.
@_exported public import KeelDocuments
