// An app's types with the names that Keel exposes only to adapter authors.

public struct ReadRequest {}
public struct ReadOperation {}
public struct ReadResult {}
public struct WriteBatch {}
public struct TransactionReads {}
public struct ChangeOrigin {}
public struct ChangeRequest {}
public struct ChangePage {}
public struct ChangeScope {}
public struct ScopeFilter {}
public struct StorageContext {}
public struct StorageEvaluator {}
