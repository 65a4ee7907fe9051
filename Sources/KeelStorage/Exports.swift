// What apps write beside the front: the model, and the name of what a store is made of.
@_exported public import KeelDocuments

@_exported public import protocol KeelStorageAdapting.StorageAdapter
