// Apps need the document model, the adapter protocol's name to declare stores, and the settings of stores.
@_exported public import KeelDocuments

@_exported public import struct KeelStorageAdapting.LogRetention
@_exported public import protocol KeelStorageAdapting.StorageAdapter
