// Apps need the document model, and the adapter protocol's name to declare stores.
@_exported public import KeelDocuments

@_exported public import protocol KeelStorageAdapting.StorageAdapter
