/// The number of a row. A row keeps it while its key exists; a number that is free is given again.
pub type RowId = u32;
